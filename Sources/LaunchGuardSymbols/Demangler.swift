internal import Runtime

/// Turns linker names of Swift and C++ into names as a person writes them.
enum Demangler {
    /// The short form, for example "Database.open(_:)"; the name itself when it is not mangled.
    static func name(_ mangled: String) -> String {
        SymbolicatedBacktrace.Symbol(imageIndex: 0, imageName: "", rawName: mangled, offset: 0, sourceLocation: nil).name
    }
}
