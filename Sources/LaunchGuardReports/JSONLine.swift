internal import FoundationEssentials

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
        var result = ""
        for scalar in String(decoding: data, as: UTF8.self).unicodeScalars {
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

    /// The value of a line of JSON.
    public static func value<Value: Decodable>(_ type: Value.Type = Value.self, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
