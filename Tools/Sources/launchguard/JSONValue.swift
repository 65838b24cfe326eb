internal import FoundationEssentials

/// Any JSON, of which a part is changed.
enum JSONValue: Hashable, Codable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Nil: it is no JSON.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return nil }
        self = value
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// Changes a member of an object, where it is there.
    mutating func change(_ key: String, _ change: (inout JSONValue) -> Void) {
        guard case .object(var members) = self, var member = members[key] else { return }
        change(&member)
        members[key] = member
        self = .object(members)
    }

    mutating func set(_ key: String, _ value: JSONValue) {
        guard case .object(var members) = self else { return }
        members[key] = value
        self = .object(members)
    }

    /// Changes each element of an array.
    mutating func changeEach(_ change: (inout JSONValue) -> Void) {
        guard case .array(var elements) = self else { return }
        for index in elements.indices { change(&elements[index]) }
        self = .array(elements)
    }
}
