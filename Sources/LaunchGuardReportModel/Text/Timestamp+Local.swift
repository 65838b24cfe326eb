internal import LaunchGuardPlatform

extension Timestamp {
    /// In the time zone of this machine or of TZ, to the second, for example "2026-01-31 12:00:00".
    public var localText: String { local.map { "\($0.year)-\($0.month)-\($0.day) \($0.hour):\($0.minute):\($0.second)" } ?? secondsText }

    /// The same without year and seconds.
    public var shortLocalText: String { local.map { "\($0.month)-\($0.day) \($0.hour):\($0.minute)" } ?? secondsText }

    private var local: (year: String, month: String, day: String, hour: String, minute: String, second: String)? {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
        func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return unsafe (
            "\(parts.tm_year + 1900)", digits(parts.tm_mon + 1), digits(parts.tm_mday), digits(parts.tm_hour), digits(parts.tm_min), digits(parts.tm_sec)
        )
    }

    /// The time that a person means: so long before `now` ("90m", "2h", "3d", "1w"), a day, or a
    /// time of a day in ISO 8601, which is local unless it says otherwise; nil: none of these.
    public init?(since text: String, now: Timestamp = .now) {
        let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        if let unit = text.last.flatMap({ units[$0] }), let count = UInt64(text.dropLast()) {
            let (span, isLong) = count.multipliedReportingOverflow(by: unit * 1_000_000_000)
            self.init(nanoseconds: isLong || span > now.nanoseconds ? 0 : now.nanoseconds - span)
            return
        }
        let bytes = Array(text.utf8)
        guard bytes.count > 10 else {
            self.init(date: text[...], time: "00:00", offset: nil)
            return
        }
        let separators = "T ".utf8, marks = "Z+-".utf8
        guard separators.contains(bytes[10]) else { return nil }
        let time = bytes[11...].prefix { !marks.contains($0) }
        let zone = String(decoding: bytes[(11 + time.count)...], as: UTF8.self)
        self.init(date: text.prefix(10), time: String(decoding: time, as: UTF8.self), offset: zone)
    }

    /// A day, "hh:mm" or "hh:mm:ss" with or without a fraction, which is passed over, and "Z" or
    /// "+hh:mm"; nil or empty: local.
    private init?(date: Substring, time: String, offset: String?) {
        let whole = time.prefix { $0 != "." }
        let text = "\(date)T\(whole)\(whole.utf8.count == 5 ? ":00" : "").000000000Z"
        guard let time = Timestamp(text), time.description == text else { return nil }
        let seconds = Int(time.nanoseconds / 1_000_000_000)
        let known: Int
        if let offset, !offset.isEmpty {
            let digits = offset.dropFirst().filter { $0 != ":" }
            guard let number = offset == "Z" ? 0 : digits.utf8.count == 4 ? Int(digits) : nil, number % 100 < 60 else { return nil }
            known = seconds - (offset.hasPrefix("-") ? -1 : 1) * (number / 100 * 3600 + number % 100 * 60)
        } else {
            // The fields of the text are those of a clock here.
            var moment = time_t(seconds)
            var parts = unsafe tm()
            guard unsafe gmtime_r(&moment, &parts) != nil else { return nil }
            unsafe parts.tm_isdst = -1
            known = unsafe mktime(&parts)
        }
        self.init(nanoseconds: UInt64(max(0, known)) * 1_000_000_000)
    }
}
