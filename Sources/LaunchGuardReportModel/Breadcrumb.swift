/// The ring log of a run.
public struct Breadcrumbs: Codable, Hashable, Sendable {
    /// Oldest first.
    public var entries: [Breadcrumb]
    /// Entries that were begun and not committed, or are damaged.
    public var torn: UInt64
    /// Bytes that were written and overwritten since.
    public var overwrittenBytes: UInt64
    /// The number of those entries; 0 also where the file does not hold it.
    public var overwrittenEntries: UInt64
    /// Whole entries of a kind that this version does not know; nil: none.
    public var unknown: UInt64?
    /// Entries that found no room, as other threads stood still in the middle of theirs; nil: none.
    public var refused: UInt64?

    public init(
        entries: [Breadcrumb], torn: UInt64 = 0, overwrittenBytes: UInt64 = 0, overwrittenEntries: UInt64 = 0, unknown: UInt64? = nil,
        refused: UInt64? = nil
    ) {
        self.entries = entries
        self.torn = torn
        self.overwrittenBytes = overwrittenBytes
        self.overwrittenEntries = overwrittenEntries
        self.unknown = unknown
        self.refused = refused
    }

    /// "12 earlier breadcrumbs were overwritten"; nil if none was.
    public var overwritten: String? {
        if overwrittenEntries > 0 {
            Self.say(overwrittenEntries, "earlier breadcrumb", one: "was overwritten", many: "were overwritten")
        } else if overwrittenBytes > 0 {
            "\(overwrittenBytes) bytes of earlier breadcrumbs were overwritten"
        } else {
            nil
        }
    }

    /// A line for each reason for which others are missing than those that were overwritten.
    public var losses: [String] {
        [
            Self.say(torn, one: "was not committed or is damaged", many: "were not committed or are damaged"),
            Self.say(unknown ?? 0, one: "is of a kind that this version does not know", many: "are of a kind that this version does not know"),
            Self.say(
                refused ?? 0, one: "found no room: other threads stood still in the middle of theirs",
                many: "found no room: other threads stood still in the middle of theirs"),
        ].compactMap(\.self)
    }

    private static func say(_ count: UInt64, _ noun: String = "breadcrumb", one: String, many: String) -> String? {
        count == 0 ? nil : count == 1 ? "1 \(noun) \(one)" : "\(count) \(noun)s \(many)"
    }
}

/// One entry of the ring log.
public struct Breadcrumb: Codable, Hashable, Sendable {
    public var lane: UInt32
    /// Grows within its lane.
    public var sequence: UInt64
    public var monotonicNanoseconds: UInt64
    public var time: Timestamp?
    public var threadID: Int32
    public var level: Level
    public var text: String
    /// The part of the program that wrote it, for example "network".
    public var category: String?
    /// In the order in which they were given; nil: none.
    public var fields: [Field]?
    /// Whether the text was longer than an entry may be, or a field was left out because it did not
    /// fit.
    public var isCut: Bool
    /// True: what it holds contradicts itself, and is not shown.
    public var isDamaged: Bool?

    /// A key and its value.
    public struct Field: Codable, Hashable, Sendable {
        public var key: String
        /// Nil where it is redacted.
        public var value: String?

        public init(key: String, value: String?) {
            self.key = key
            self.value = value
        }
    }

    public init(
        lane: UInt32, sequence: UInt64, monotonicNanoseconds: UInt64, time: Timestamp?, threadID: Int32, level: Level, text: String,
        category: String? = nil, fields: [Field]? = nil, isCut: Bool = false, isDamaged: Bool? = nil
    ) {
        self.lane = lane
        self.sequence = sequence
        self.monotonicNanoseconds = monotonicNanoseconds
        self.time = time
        self.threadID = threadID
        self.level = level
        self.text = text
        self.category = category
        self.fields = fields
        self.isCut = isCut
        self.isDamaged = isDamaged
    }
}

/// Importance of a breadcrumb: one of the named levels, or a number between or beyond them.
public struct Level: RawRepresentable, Hashable, Sendable, Comparable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let trace = Level(rawValue: 10)
    public static let debug = Level(rawValue: 20)
    public static let info = Level(rawValue: 30)
    public static let notice = Level(rawValue: 40)
    public static let warning = Level(rawValue: 50)
    public static let error = Level(rawValue: 60)
    public static let critical = Level(rawValue: 70)

    /// The named levels with their names, the least important first.
    public static let named: [(level: Level, name: String)] = [
        (.trace, "trace"), (.debug, "debug"), (.info, "info"), (.notice, "notice"), (.warning, "warning"), (.error, "error"),
        (.critical, "critical"),
    ]

    public static func < (left: Level, right: Level) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension Level: LosslessStringConvertible {
    /// The name, or the number in decimal digits.
    public var description: String {
        Self.named.first { $0.level == self }?.name ?? String(rawValue)
    }

    /// A level by its name or number.
    public init?(_ text: String) {
        if let level = Self.named.first(where: { $0.name == text })?.level {
            self = level
        } else if let number = UInt32(text) {
            self.init(rawValue: number)
        } else {
            return nil
        }
    }
}

extension Level: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let level = Level(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a level is a name or a number")
        }
        self = level
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
