internal import LaunchGuardPlatform

/// Decompresses `.xz` by liblzma, which is loaded when it is first needed: few files ask for it,
/// and the tool works without.
enum XZ {
    enum Failure: Error, CustomStringConvertible {
        case noLibrary
        case damaged
        case tooLarge

        var description: String {
            switch self {
            case .noLibrary: "liblzma.so.5 cannot be loaded; install it (package liblzma5 or xz-libs)"
            case .damaged: "they are damaged"
            case .tooLarge: "they are larger than 64 MiB"
            }
        }
    }

    /// The decompressed bytes of one stream, at most `limit`.
    static func bytes(of compressed: [UInt8], limit: Int, library: String = "liblzma.so.5") throws(Failure) -> [UInt8] {
        guard let decode = unsafe decoder(in: library) else { throw .noLibrary }
        // The library has one answer for input that was cut and for output without room. A whole
        // stream ends with these letters.
        guard compressed.suffix(2) == Array("YZ".utf8)[...] else { throw .damaged }
        var size = min(max(compressed.count, 4096) * 8, limit)
        while true {
            var bytes = [UInt8](repeating: 0, count: size)
            var (read, written) = (0, 0)
            // As much as the highest preset needs.
            var memory: UInt64 = 80 << 20
            let status = unsafe decode(&memory, 0, nil, compressed, &read, compressed.count, &bytes, &written, size)
            switch status {
            case 0:
                bytes.removeLast(size - written)
                return bytes
            case bufferIsTooSmall:
                guard size < limit else { throw .tooLarge }
                size = min(size * 4, limit)
            default: throw .damaged
            }
        }
    }

    /// LZMA_BUF_ERROR
    private static let bufferIsTooSmall: UInt32 = 10

    /// `lzma_stream_buffer_decode`
    private typealias Decode = @convention(c) (
        UnsafeMutablePointer<UInt64>, UInt32, UnsafeRawPointer?, UnsafePointer<UInt8>, UnsafeMutablePointer<Int>, Int,
        UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, Int
    ) -> UInt32

    private static func decoder(in library: String) -> Decode? {
        guard let library = unsafe dlopen(library, RTLD_NOW | RTLD_LOCAL), let function = unsafe dlsym(library, "lzma_stream_buffer_decode")
        else { return nil }
        return unsafe unsafeBitCast(function, to: Decode.self)
    }
}
