internal import CLaunchGuard

extension Reader {
    /// Which keys are redacted now. In a living process, ask after reading what it is applied to,
    /// not before: a key may be redacted and used in between.
    func redaction() -> Redaction {
        var keys: Set<String> = []
        var annotation = lg_annotation()
        for place in usedPlaces where unsafe lg_reader_annotation(handle, place, &annotation) == LG_OK && annotation.redacted != 0 {
            keys.insert(string(&annotation.key))
        }
        // No key is empty: this key is not found exactly where the redacted keys are known.
        return Redaction(keys: keys, isKnown: unsafe lg_reader_redacted(handle, "") == LG_ERR_NOT_FOUND)
    }

    /// The values whose keys are redacted, for what must not hold them; nil where a damaged part of
    /// the file may say that there are more.
    func redactedValues() -> [[UInt8]]? {
        var values: [[UInt8]] = []
        var annotation = lg_annotation()
        for place in usedPlaces where unsafe lg_reader_annotation(handle, place, &annotation) == LG_OK && annotation.redacted != 0 {
            let size = Int(annotation.size)
            unsafe withUnsafeBytes(of: &annotation.value) { unsafe values.append(Array($0.prefix(size))) }
        }
        var info = lg_log_info(), entry = lg_log_entry(), field = lg_log_field()
        let hasLog = unsafe lg_reader_log(handle, &info) == LG_OK
        let redaction = redaction()
        guard redaction.isKnown else { return nil }
        for index in 0..<(hasLog ? info.entries : 0) where unsafe lg_reader_log_entry(handle, index, &entry) == LG_OK {
            for number in 0..<entry.field_count where unsafe lg_reader_log_field(handle, index, number, &field) == LG_OK {
                guard redaction.hides(string(&field.key, size: Int(field.key_size))) else { continue }
                let size = Int(field.value_size)
                unsafe withUnsafeBytes(of: &field.value) { unsafe values.append(Array($0.prefix(size))) }
            }
        }
        return values
    }

    /// The places that are not empty; all of them where that is not known.
    private var usedPlaces: some Sequence<UInt32> {
        var used: UInt64 = 0
        let isKnown = unsafe lg_reader_annotations_used(handle, &used) == LG_OK
        return (0..<UInt32(LG_ANNOTATIONS_MAX)).lazy.filter { [used] in !isKnown || used >> $0 & 1 == 1 }
    }
}
