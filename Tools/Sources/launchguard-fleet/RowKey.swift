import LaunchGuardReports

/// The key of the bug that a run ended by. This is the one place where a row gets its key.
struct RowKey: Hashable, Sendable {
    /// 32 hexadecimal digits. The application is in it.
    let key: String
    /// The key that the same run has where its functions have no names, if `key` is by names.
    let nameless: String?

    init(_ run: RunReport, fingerprint: String?) {
        let app = run.identity?.appID ?? "", end = run.verdict?.end.rawValue ?? ""
        let nameless = Self.digest(fingerprint.map { ["fingerprint", app, $0] } ?? ["end", app, end])
        guard let place = run.place, run.isPlaceNamed else {
            (key, self.nameless) = (nameless, nil)
            return
        }
        let crash = run.fatalCrash
        let kind = Self.families[crash?.kind ?? ""] ?? crash?.finestKind ?? ""
        let said = kind == "abort.heap" ? [] : (crash?.messages ?? []).map(\.withoutData)
        key = Self.digest(["place", app, end, kind, place] + said)
        self.nameless = nameless
    }

    /// One bad pointer gives any kind of its family by chance.
    private static let families: [String: String] = {
        let members = [
            "fault.null": ["null_read", "null_write", "null_offset"], "fault.wild": ["unmapped", "general_protection", "protected", "readonly_write"],
            "fault.jump_wild": ["jump_bad", "exec_nx"],
        ]
        return Dictionary(uniqueKeysWithValues: members.flatMap { family, kinds in kinds.map { ("fault." + $0, family) } })
    }()

    /// FNV-1a of 128 bits. Whoever makes two keys equal on purpose can as well name a function.
    private static func digest(_ parts: [String]) -> String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in parts.map({ "\($0.utf8.count) \($0)\n" }).joined().utf8 {
            hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}

extension Message {
    /// The text with a `#` for each number; of `what()`, the begin that holds no data.
    fileprivate var withoutData: String {
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        if source == .cppType { return String(line) }
        if source == .cppWhat { return String(line.prefix { !$0.isNumber && !"'\"`:/".contains($0) }) }
        var words = ""
        var rest = line[...]
        while let first = rest.first {
            guard first.isASCII, first.isNumber else {
                words.append(rest.removeFirst())
                continue
            }
            words.append("#")
            rest = rest.drop { $0.isASCII && ($0.isHexDigit || $0 == "x") }
        }
        return words
    }
}
