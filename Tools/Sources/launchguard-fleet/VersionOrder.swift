/// Which of two versions of an application is the later one: by their numbers where both begin with
/// one, else by when a run of each was first seen.
struct VersionOrder {
    /// By version, when its first run began.
    var firstStarted: [String: String]

    /// Nil: that is not known.
    func isAtLeast(_ version: String, _ other: String) -> Bool? {
        if version == other { return true }
        if let (mine, its) = Self.parts(version).flatMap({ mine in Self.parts(other).map { (mine, $0) } }) { return !Self.isLess(mine, its) }
        guard let mine = firstStarted[version], let its = firstStarted[other] else { return nil }
        return mine >= its
    }

    /// The oldest first.
    func sorted<Value>(_ values: [Value], by version: (Value) -> String?) -> [Value] {
        let keyed = values.map { (value: $0, version: version($0) ?? "", parts: version($0).flatMap(Self.parts)) }
        guard keyed.allSatisfy({ $0.parts != nil }) else {
            return keyed.sorted { (firstStarted[$0.version] ?? "", $0.version) < (firstStarted[$1.version] ?? "", $1.version) }.map(\.value)
        }
        return keyed.sorted { Self.isLess($0.parts ?? [], $1.parts ?? []) }.map(\.value)
    }

    /// Runs of digits, and what is between them.
    private static func parts(_ version: String) -> [Substring]? {
        var rest = version.hasPrefix("v") ? version.dropFirst() : version[...]
        guard rest.first?.isASCIIDigit == true else { return nil }
        var parts: [Substring] = []
        while let first = rest.first {
            let part = rest.prefix { $0.isASCIIDigit == first.isASCIIDigit }
            parts.append(part)
            rest = rest.dropFirst(part.count)
        }
        return parts
    }

    private static func isLess(_ mine: [Substring], _ its: [Substring]) -> Bool {
        for (a, b) in zip(mine, its) where a != b {
            guard a.first?.isASCIIDigit == true, b.first?.isASCIIDigit == true else { return a < b }
            let (a, b) = (a.drop { $0 == "0" }, b.drop { $0 == "0" })
            if a != b { return a.count != b.count ? a.count < b.count : a < b }
        }
        // "2.4-rc1" and "2.4~beta" come before "2.4".
        func isEarly(_ parts: ArraySlice<Substring>) -> Bool { parts.first.map { $0.hasPrefix("-") || $0.hasPrefix("~") } ?? false }
        return mine.count < its.count ? !isEarly(its[mine.count...]) : mine.count > its.count && isEarly(mine[its.count...])
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
