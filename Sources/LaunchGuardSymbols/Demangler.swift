internal import Runtime

/// Turns linker names of Swift and C++ into names of the source.
enum Demangler {
    /// The short form, for example "Database.open(_:)"; the name itself when it is not mangled.
    static func name(_ mangled: String) -> String {
        SymbolicatedBacktrace.Symbol(imageIndex: 0, imageName: "", rawName: mangled, offset: 0, sourceLocation: nil).name
    }

    /// A C++ type, for example "std::runtime_error" for "St13runtime_error"; nil when the name is
    /// not the name of a type.
    static func typeName(_ mangled: String) -> String? {
        // The demangler knows only symbols. The symbol of the type's name contains the type.
        let prefix = "typeinfo name for "
        let name = name("_ZTS" + mangled)
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}
