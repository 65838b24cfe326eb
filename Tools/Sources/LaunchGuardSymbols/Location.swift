/// A function at an address of a file, and where in its source. Where several have one address,
/// the innermost inlined one comes first and the function proper last.
struct Location: Hashable, Sendable {
    /// As the linker knows it.
    var name: String?
    var file: String?
    var line: Int?
    var column: Int?
    var start: UInt64?
    /// Whether its source declares that it never returns; only `FunctionAttributes` says that.
    var isNoReturn = false

    /// One address of a file.
    struct Query: Hashable, Sendable {
        var file: String
        var address: UInt64
    }
}
