/// A path with a mark where the name of the device is: `/srv/{device}/var`. A `*` stands for any
/// text within one part of the path. The pattern may begin and end at any part of a path.
package struct DevicePattern: Sendable {
    package static let mark = "{device}"
    package let text: String
    private let parts: [Substring]

    /// Nil: the mark is not there once.
    package init?(_ text: String) {
        parts = text.split(separator: "/")
        self.text = text
        guard text.split(separator: Self.mark, omittingEmptySubsequences: false).count == 2 else { return nil }
    }

    /// The name of the device that a path belongs to; nil: the path does not match.
    package func device(in path: String) -> String? {
        let others = path.split(separator: "/").filter { $0 != "." }
        let starts = text.hasPrefix("/") && path.hasPrefix("/") ? 0...0 : 0...max(0, others.count - parts.count)
        guard others.count >= parts.count else { return nil }
        for start in starts {
            var name: Substring?
            let isMatch = zip(parts, others[start...]).allSatisfy { part, other in
                guard let mark = part.firstRange(of: Self.mark) else { return Self.matches(part, other) }
                let (before, after) = (part[..<mark.lowerBound], part[mark.upperBound...])
                guard other.count > before.count + after.count, other.hasPrefix(before), other.hasSuffix(after) else { return false }
                name = other.dropFirst(before.count).dropLast(after.count)
                return true
            }
            if isMatch, let name { return String(name) }
        }
        return nil
    }

    private static func matches(_ pattern: Substring, _ text: Substring) -> Bool {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return pattern == text }
        guard text.count >= first.count + last.count, text.hasPrefix(first), text.hasSuffix(last) else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() {
            guard let found = rest.firstRange(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}
