/// The linker's name of a part or a copy of a function, such as `work.cold` or
/// `work.part.0.isra.0`.
enum PartName {
    /// Words that gcc and clang write after a name, most with a number.
    private static let words: Set<Substring> = ["cold", "part", "constprop", "isra", "llvm", "lto_priv"]

    /// The name of the function proper.
    static func function(_ name: String) -> String {
        var parts = name.split(separator: ".", omittingEmptySubsequences: false)[...]
        while parts.count > 1 {
            let isNumber = parts.last?.isEmpty == false && parts.last?.allSatisfy(\.isWholeNumber) == true
            let rest = parts.dropLast(isNumber ? 2 : 1)
            guard let word = isNumber ? parts.dropLast().last : parts.last, words.contains(word), rest.first?.isEmpty == false else { break }
            parts = rest
        }
        return parts.joined(separator: ".")
    }
}
