/// The digest BLAKE2s (RFC 7693) of 16 bytes with a key, as the C library uses it.
enum BLAKE2s {
    /// - Parameter key: at most 32 bytes.
    static func hex(_ text: some Sequence<UInt8>, key: String) -> String {
        let key = Array(key.utf8)
        var state = initial
        state[0] ^= 0x0101_0000 ^ UInt32(key.count) << 8 ^ 16
        let bytes = key + [UInt8](repeating: 0, count: 64 - key.count) + Array(text)
        for start in stride(from: 0, to: bytes.count, by: 64) {
            let end = min(start + 64, bytes.count)
            compress(&state, Array(bytes[start..<end]) + [UInt8](repeating: 0, count: start + 64 - end), total: UInt64(end), isLast: end == bytes.count)
        }
        return state.prefix(4).flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }.map(digits).joined()
    }

    private static func digits(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static let initial: [UInt32] = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]

    private static let order: [[Int]] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]

    private static let mixes = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]

    private static func compress(_ state: inout [UInt32], _ block: [UInt8], total: UInt64, isLast: Bool) {
        let words: [UInt32] = (0..<16).map { word in
            var value: UInt32 = 0
            for byte in block[4 * word..<4 * word + 4].reversed() { value = value << 8 | UInt32(byte) }
            return value
        }
        var v = state + initial
        v[12] ^= UInt32(truncatingIfNeeded: total)
        v[13] ^= UInt32(truncatingIfNeeded: total >> 32)
        if isLast { v[14] = ~v[14] }
        func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }
        for round in order {
            for (index, (a, b, c, d)) in mixes.enumerated() {
                v[a] = v[a] &+ v[b] &+ words[round[2 * index]]
                v[d] = turned(v[d] ^ v[a], 16)
                v[c] = v[c] &+ v[d]
                v[b] = turned(v[b] ^ v[c], 12)
                v[a] = v[a] &+ v[b] &+ words[round[2 * index + 1]]
                v[d] = turned(v[d] ^ v[a], 8)
                v[c] = v[c] &+ v[d]
                v[b] = turned(v[b] ^ v[c], 7)
            }
        }
        for index in 0..<8 { state[index] ^= v[index] ^ v[index + 8] }
    }
}
