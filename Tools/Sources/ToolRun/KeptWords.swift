#if os(Linux)
import CProcess

/// The last bytes that a program writes to standard error. Made before the program starts.
@safe
final class KeptWords {
    private let words: UnsafeMutablePointer<lg_shim_words>

    /// Standard error is a pipe from here on, which the next program gets. Nil: a terminal stays
    /// one, and nothing is kept.
    init?() {
        guard let words = unsafe lg_shim_words_begin() else { return nil }
        unsafe self.words = words
    }

    /// The program has started, or could not be.
    func handOver() { unsafe lg_shim_words_handed_over(words) }

    /// After the end of the program: its last bytes, and the number of all.
    func settle() -> (bytes: [UInt8], total: UInt64) {
        unsafe lg_shim_words_settle(words)
        let total = unsafe lg_shim_words_total(words), size = min(total, UInt64(LG_SHIM_WORDS_BYTES))
        return ((total - size..<total).map { unsafe UInt8(bitPattern: lg_shim_words_byte(words, $0)) }, total)
    }

    deinit { unsafe lg_shim_words_end(words) }
}
#endif
