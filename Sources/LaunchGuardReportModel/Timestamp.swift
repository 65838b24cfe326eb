internal import LaunchGuardPlatform

/// A point in time: nanoseconds since 1970. Text and JSON show it in ISO 8601, in UTC, with all
/// nine digits.
public struct Timestamp: Hashable, Sendable, Comparable {
    public var nanoseconds: UInt64

    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Timestamp {
    /// The time by the clock of this machine.
    public static var now: Timestamp {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0, time.tv_sec > 0 else { return Timestamp(nanoseconds: 0) }
        return Timestamp(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    /// Without the fraction of the second, which is cut off.
    public var secondsText: String {
        description.prefix(19) + "Z"
    }
}

extension Timestamp: CustomStringConvertible {
    public var description: String {
        let seconds = nanoseconds / 1_000_000_000
        let (year, month, day) = Self.date(dayNumber: seconds / 86400)
        let time = seconds % 86400
        return unsafe String(unsafeUninitializedCapacity: 30) { text in
            var end = 0
            func add(_ value: UInt64, _ width: Int, then mark: UInt8) {
                var rest = value
                for place in (end..<end + width).reversed() {
                    unsafe text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                unsafe text[end + width] = mark
                end += width + 1
            }
            add(year, 4, then: UInt8(ascii: "-"))
            add(month, 2, then: UInt8(ascii: "-"))
            add(day, 2, then: UInt8(ascii: "T"))
            add(time / 3600, 2, then: UInt8(ascii: ":"))
            add(time / 60 % 60, 2, then: UInt8(ascii: ":"))
            add(time % 60, 2, then: UInt8(ascii: "."))
            add(nanoseconds % 1_000_000_000, 9, then: UInt8(ascii: "Z"))
            return end
        }
    }

    // Years are counted from 1 March, so that the leap day is the last one; 719468 days lie between
    // 0000-03-01 and 1970-01-01.
    private static func date(dayNumber: UInt64) -> (year: UInt64, month: UInt64, day: UInt64) {
        let days = dayNumber + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    private static func dayNumber(year: UInt64, month: UInt64, day: UInt64) -> UInt64? {
        guard year >= 1970, (1...12).contains(month), (1...31).contains(day) else { return nil }
        let marchYear = month <= 2 ? year - 1 : year
        let yearOfEra = marchYear % 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return marchYear / 400 * 146_097 + 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The time that a description of this type shows; nil for any other text.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 30 else { return nil }
        var fields: [UInt64] = [0]
        for (index, byte) in bytes.enumerated() {
            switch (index, byte) {
            case (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")),
                (16, UInt8(ascii: ":")), (19, UInt8(ascii: ".")):
                fields.append(0)
            case (29, UInt8(ascii: "Z")):
                break
            case (_, UInt8(ascii: "0")...UInt8(ascii: "9")):
                fields[fields.count - 1] = fields[fields.count - 1] * 10 + UInt64(byte - UInt8(ascii: "0"))
            default:
                return nil
            }
        }
        guard fields.count == 7, fields[3] < 24, fields[4] < 60, fields[5] < 60, fields[0] < 2554,
            let day = Self.dayNumber(year: fields[0], month: fields[1], day: fields[2])
        else { return nil }
        let seconds = day * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5]
        nanoseconds = seconds * 1_000_000_000 + fields[6]
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = Timestamp(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a time looks like \"2026-01-31T12:00:00.000000000Z\"")
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
