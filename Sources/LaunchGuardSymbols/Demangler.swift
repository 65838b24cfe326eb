internal import Runtime

/// Turns linker names of Swift and C++ into names as a person writes them.
enum Demangler {
    /// The short form, for example "Database.open(_:)"; the name itself when it is not mangled.
    static func name(_ mangled: String) -> String {
        SymbolicatedBacktrace.Symbol(imageIndex: 0, imageName: "", rawName: mangled, offset: 0, sourceLocation: nil).name
    }

    /// A C++ type, for example "std::runtime_error" for "St13runtime_error"; nil when the name is none of a type.
    static func typeName(_ mangled: String) -> String? {
        // The demangler knows symbols only: that of the type's name says what it is the name of.
        let prefix = "typeinfo name for "
        let name = name("_ZTS" + mangled)
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}
