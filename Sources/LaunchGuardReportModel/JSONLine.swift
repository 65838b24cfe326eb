#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes one line of JSON of any value of the model.
public enum JSONLine {
    /// The value as JSON without a line end. Like text, it holds nothing that a terminal would take
    /// for a command.
    public static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The model has no floating-point number and no key that is not a string, so that encoding
        // cannot fail.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return escaped(String(decoding: data, as: UTF8.self))
    }

    /// The same JSON, in which a terminal finds nothing that it would take for a command.
    public static func escaped(_ text: String) -> String {
        guard !text.isPlain else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if TextWriter.isUnsafe(scalar) {
                // Such a character can only stand in a string.
                for unit in UTF16.encode(scalar)! {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Append the same line, with its end, of a breadcrumb: there may be hundreds of thousands, and
    /// the encoder takes some 20 µs for each.
    public static func append(_ entry: Breadcrumb, to line: inout [UInt8]) {
        func add(_ key: StaticString, _ text: String) {
            unsafe line.append(contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
            line += text.utf8
        }
        /// Characters that need no escape are written as they are.
        func quoted(_ text: String) -> String {
            let isSimple = text.isPlain && !text.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            return isSimple ? "\"" + text + "\"" : Self.text(text)
        }
        add("{", "")
        if let category = entry.category { add("\"category\":", quoted(category) + ",") }
        if let fields = entry.fields {
            add("\"fields\":[", "")
            for (index, field) in fields.enumerated() {
                add(index > 0 ? ",{\"key\":" : "{\"key\":", quoted(field.key))
                if let value = field.value { add(",\"value\":", quoted(value)) }
                add("}", "")
            }
            add("],", "")
        }
        add("\"isCut\":", entry.isCut ? "true" : "false")
        if let isDamaged = entry.isDamaged { add(",\"isDamaged\":", isDamaged ? "true" : "false") }
        add(",\"lane\":", String(entry.lane))
        add(",\"level\":\"", entry.level.description)
        add("\",\"monotonicNanoseconds\":", String(entry.monotonicNanoseconds))
        add(",\"sequence\":", String(entry.sequence))
        add(",\"text\":", quoted(entry.text))
        add(",\"threadID\":", String(entry.threadID))
        if let time = entry.time {
            add(",\"time\":\"", time.description)
            add("\"", "")
        }
        add("}\n", "")
    }

    /// The value of a line of JSON.
    public static func value<Value: Decodable>(_ type: Value.Type = Value.self, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
