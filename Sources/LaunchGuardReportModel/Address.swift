/// An address in a process, or within a file. Text and JSON show it as `0x` and sixteen hexadecimal
/// digits.
public struct Address: Hashable, Sendable, Comparable {
    public var value: UInt64

    public init(_ value: UInt64) {
        self.value = value
    }

    /// `0x` and as few digits as the value needs.
    public var short: String {
        "0x" + String(value, radix: 16)
    }

    public static func < (left: Address, right: Address) -> Bool {
        left.value < right.value
    }
}

extension Address: CustomStringConvertible {
    public var description: String {
        let digits = String(value, radix: 16)
        return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Address: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard text.hasPrefix("0x"), let value = UInt64(text.dropFirst(2), radix: 16) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "an address looks like \"0x0000000000001000\"")
        }
        self.init(value)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
