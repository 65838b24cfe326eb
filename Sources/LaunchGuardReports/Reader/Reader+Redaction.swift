internal import CLaunchGuard

extension Reader {
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
        // No key is empty: this key is not found exactly where the redacted keys are known.
        guard unsafe lg_reader_redacted(handle, "") == LG_ERR_NOT_FOUND, let secrets = try? Secrets(self, hasLog ? info : nil) else { return nil }
        for index in 0..<(hasLog ? info.entries : 0) where unsafe lg_reader_log_entry(handle, index, &entry) == LG_OK {
            for number in 0..<entry.field_count where unsafe lg_reader_log_field(handle, index, number, &field) == LG_OK {
                guard secrets.hides(&field.key) else { continue }
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

/// What of a run is not to be shown, also in texts. C: `lg_secrets`.
@safe
final class Secrets {
    private let handle: OpaquePointer

    /// Those of the reader's run, as they are now: made after what they are applied to was read.
    /// `log`: the snapshot that the reader holds.
    init(_ reader: Reader, _ log: lg_log_info?) throws(ReportError) {
        var secrets: OpaquePointer?
        let status: lg_status
        if var log {
            status = unsafe lg_reader_secrets(reader.handle, &log, &secrets)
        } else {
            status = unsafe lg_reader_secrets(reader.handle, nil, &secrets)
        }
        guard status == LG_OK, let secrets = unsafe secrets else { throw CLibrary.error(status, path: reader.path) }
        unsafe handle = secrets
    }

    deinit { unsafe lg_secrets_free(handle) }

    /// Whether the value of a key, a text with a NUL, is not to be shown.
    func hides<Key>(_ key: inout Key) -> Bool {
        unsafe withUnsafeBytes(of: &key) { unsafe lg_secrets_hide_key(handle, $0.baseAddress!.assumingMemoryBound(to: CChar.self)) != 0 }
    }

    /// A text without what is not to be shown.
    func string<Text>(_ text: inout Text, size: Int = .max) -> String {
        unsafe withUnsafeMutableBytes(of: &text) { bytes in
            let end = unsafe size != .max ? min(size, bytes.count) : bytes.firstIndex(of: 0) ?? bytes.count
            let shown = unsafe lg_secrets_hide(handle, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), end)
            return unsafe String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<shown]), as: UTF8.self)
        }
    }
}
