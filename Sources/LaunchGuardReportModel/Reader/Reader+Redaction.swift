internal import CLaunchGuard

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
