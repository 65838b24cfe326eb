/// A function of Rust, from its linker name: of the older form, which looks like one of C++ with a
/// hash at its end, and of the form of RFC 2603. Hashes and crate numbers stay out.
struct RustName {
    let text: String

    init?(_ mangled: String) {
        guard let text = mangled.hasPrefix("_R") ? Parser(mangled.dropFirst(2)).name : Self.older(mangled) else { return nil }
        self.text = text
    }

    // MARK: - The older form

    /// `_ZN`, parts with their lengths, the last one "h" and 16 hexadecimal digits, `E`.
    private static func older(_ name: String) -> String? {
        guard name.hasPrefix("_ZN"), name.hasSuffix("E") else { return nil }
        var parts: [Substring] = []
        var rest = name.dropFirst(3).dropLast()
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let length = Int(digits), length > 0, length <= rest.count - digits.count else { return nil }
            rest = rest.dropFirst(digits.count)
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        guard parts.count > 1, let hash = parts.popLast(), hash.count == 17, hash.first == "h", hash.dropFirst().allSatisfy({ $0.isHexDigit && !$0.isUppercase })
        else { return nil }
        return parts.map(unescaped).joined(separator: "::")
    }

    private static let escapes: [Substring: String] = ["SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","]

    private static func unescaped(_ part: Substring) -> String {
        var text = "", rest = part.hasPrefix("_$") ? part.dropFirst() : part
        while let letter = rest.first {
            if letter == "$", let end = rest.dropFirst().firstIndex(of: "$") {
                let escape = rest[rest.index(after: rest.startIndex)..<end]
                let number = escape.hasPrefix("u") ? UInt32(escape.dropFirst(), radix: 16).flatMap(Unicode.Scalar.init).map { String(Character($0)) } : nil
                if let found = escapes[escape] ?? number {
                    text += found
                    rest = rest[rest.index(after: end)...]
                    continue
                }
            }
            let isPath = rest.hasPrefix("..")
            text += isPath ? "::" : String(letter)
            rest = rest.dropFirst(isPath ? 2 : 1)
        }
        return text
    }

    // MARK: - The form of RFC 2603

    /// Reads a name from its begin. Back references make a short name long, so that depth and
    /// length have bounds.
    private struct Parser {
        private let bytes: [UInt8]
        private var at = 0
        private var depth = 0
        private var length = 0
        private static let mostDepth = 96
        private static let mostLength = 16384

        init(_ name: Substring) {
            bytes = Array(name.utf8)
        }

        var name: String? {
            var copy = self
            guard let text = copy.path(ofValue: true), copy.length <= Self.mostLength else { return nil }
            return text
        }

        private mutating func next() -> UInt8? {
            guard at < bytes.count else { return nil }
            defer { at += 1 }
            return bytes[at]
        }

        private mutating func take(_ letter: Character) -> Bool {
            guard at < bytes.count, bytes[at] == letter.asciiValue else { return false }
            at += 1
            return true
        }

        /// One level deeper, unless that is too deep or the text is too long by now.
        private mutating func nested(_ read: (inout Parser) -> String?) -> String? {
            guard depth < Self.mostDepth, length <= Self.mostLength else { return nil }
            depth += 1
            defer { depth -= 1 }
            let text = read(&self)
            length += text?.utf8.count ?? 0
            return text
        }

        /// Base 62 with "_" at its end.
        private mutating func base62() -> UInt64? {
            var value: UInt64 = 0
            if take("_") { return 0 }
            while let byte = next() {
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 48
                case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - 97 + 10
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - 65 + 36
                case UInt8(ascii: "_"): return value &+ 1
                default: return nil
                }
                value = value &* 62 &+ UInt64(digit)
            }
            return nil
        }

        private mutating func disambiguator() -> UInt64? {
            guard take("s") else { return 0 }
            return base62().map { $0 &+ 1 }
        }

        /// Its number among those of one name, and the name.
        private mutating func identifier() -> (number: UInt64, name: String)? {
            guard let number = disambiguator() else { return nil }
            let isPunycode = take("u")
            guard at < bytes.count, (48...57).contains(bytes[at]) else { return nil }
            var size = 0
            while at < bytes.count, (48...57).contains(bytes[at]), size < 1 << 16 {
                size = size * 10 + Int(bytes[at]) - 48
                at += 1
                if size == 0 { break }
            }
            _ = take("_")
            guard size <= bytes.count - at else { return nil }
            defer { at += size }
            let text = String(decoding: bytes[at..<at + size], as: UTF8.self)
            return (number, isPunycode ? "punycode{\(text)}" : text)
        }

        private mutating func backReference(_ read: (inout Parser) -> String?) -> String? {
            let start = at - 1
            guard let place = base62(), place < UInt64(start) else { return nil }
            let after = at
            at = Int(place)
            defer { at = after }
            return nested(read)
        }

        /// The arguments of a value have "::" in front, those of a type have not.
        private mutating func path(ofValue isValue: Bool = false) -> String? { nested { $0.pathBody(isValue) } }

        private mutating func pathBody(_ isValue: Bool) -> String? {
            switch next() {
            case UInt8(ascii: "C"): return identifier()?.name
            case UInt8(ascii: "M"):
                guard disambiguator() != nil, path() != nil, let type = type() else { return nil }
                return "<\(type)>"
            case UInt8(ascii: "X"):
                guard disambiguator() != nil, path() != nil, let type = type(), let trait = path() else { return nil }
                return "<\(type) as \(trait)>"
            case UInt8(ascii: "Y"):
                guard let type = type(), let trait = path() else { return nil }
                return "<\(type) as \(trait)>"
            case UInt8(ascii: "N"):
                guard let space = next(), let parent = path(ofValue: isValue), let (number, name) = identifier() else { return nil }
                guard space < 97 else { return name.isEmpty ? parent : "\(parent)::\(name)" }
                let kind = space == UInt8(ascii: "C") ? "closure" : space == UInt8(ascii: "S") ? "shim" : String(UnicodeScalar(space))
                return "\(parent)::{\(kind)\(name.isEmpty ? "" : ":\(name)")#\(number)}"
            case UInt8(ascii: "I"):
                guard let parent = path(ofValue: isValue), let arguments = list({ $0.argument() }) else { return nil }
                return arguments.isEmpty ? parent : "\(parent)\(isValue ? "::" : "")<\(arguments.joined(separator: ", "))>"
            case UInt8(ascii: "B"): return backReference { $0.path(ofValue: isValue) }
            default: return nil
            }
        }

        /// Up to the letter E.
        private mutating func list(_ read: (inout Parser) -> String?) -> [String]? {
            var texts: [String] = []
            while !take("E") {
                guard let text = read(&self) else { return nil }
                texts.append(text)
            }
            return texts
        }

        private mutating func argument() -> String? {
            if take("L") { return base62().map { _ in "'_" } }
            return take("K") ? constant() : type()
        }

        private static let basics: [Character: String] = [
            "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8", "i": "isize", "j": "usize", "l": "i32", "m": "u32", "n": "i128",
            "o": "u128", "s": "i16", "t": "u16", "u": "()", "v": "...", "x": "i64", "y": "u64", "z": "!", "p": "_",
        ]

        private mutating func type() -> String? { nested { $0.typeBody() } }

        private mutating func typeBody() -> String? {
            guard at < bytes.count else { return nil }
            let letter = Character(UnicodeScalar(bytes[at]))
            if let basic = Self.basics[letter] {
                at += 1
                return basic
            }
            switch letter {
            case "C", "M", "X", "Y", "N", "I": return path()
            default: at += 1
            }
            switch letter {
            case "A":
                guard let element = type(), let count = constant() else { return nil }
                return "[\(element); \(count)]"
            case "S": return type().map { "[\($0)]" }
            case "T": return list { $0.type() }.map { "(\($0.joined(separator: ", "))\($0.count == 1 ? "," : ""))" }
            case "R", "Q":
                if take("L"), base62() == nil { return nil }
                return type().map { (letter == "Q" ? "&mut " : "&") + $0 }
            case "P": return type().map { "*const \($0)" }
            case "O": return type().map { "*mut \($0)" }
            case "F": return function()
            case "D":
                if take("G"), base62() == nil { return nil }
                guard let bounds = list({ $0.bound() }), take("L"), base62() != nil else { return nil }
                return "dyn \(bounds.joined(separator: " + "))"
            case "B": return backReference { $0.type() }
            default: return nil
            }
        }

        private mutating func function() -> String? {
            if take("G"), base62() == nil { return nil }
            let isUnsafe = take("U")
            var convention = ""
            if take("K") {
                guard let name = take("C") ? "C" : identifier()?.name else { return nil }
                convention = "extern \"\(name)\" "
            }
            guard let arguments = list({ $0.type() }), let result = type() else { return nil }
            return "\(isUnsafe ? "unsafe " : "")\(convention)fn(\(arguments.joined(separator: ", ")))\(result == "()" ? "" : " -> \(result)")"
        }

        private mutating func bound() -> String? {
            guard var text = path() else { return nil }
            while take("p") {
                guard let (_, name) = identifier(), let type = type() else { return nil }
                text = text.hasSuffix(">") ? "\(text.dropLast()), \(name) = \(type)>" : "\(text)<\(name) = \(type)>"
            }
            return text
        }

        private mutating func constant() -> String? {
            if take("B") { return backReference { $0.constant() } }
            if take("p") { return "_" }
            guard type() != nil else { return nil }
            let sign = take("n") ? "-" : ""
            var digits = ""
            while let byte = next(), byte != UInt8(ascii: "_") { digits.append(Character(UnicodeScalar(byte))) }
            return sign + (UInt64(digits, radix: 16).map(String.init) ?? (digits.isEmpty ? "0" : "0x\(digits)"))
        }
    }
}
