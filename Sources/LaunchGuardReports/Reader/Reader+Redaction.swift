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

    /// The places that are not empty; all of them where that is not known.
    private var usedPlaces: some Sequence<UInt32> {
        var used: UInt64 = 0
        let isKnown = unsafe lg_reader_annotations_used(handle, &used) == LG_OK
        return (0..<UInt32(LG_ANNOTATIONS_MAX)).lazy.filter { [used] in !isKnown || used >> $0 & 1 == 1 }
    }
}
