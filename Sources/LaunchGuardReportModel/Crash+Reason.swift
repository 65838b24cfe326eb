/// The kind that follows from the compiler's words, beyond the record.
extension Crash {
    /// The kind, as fine as it is known: the same in a debug build, whose standard library says why
    /// it traps, and in a release build, whose debug information says it.
    public var finestKind: String { reason ?? messages?.lazy.compactMap { Self.reason(said: $0) }.first ?? kind }

    /// The standard library names its own file; a text of the program may have the same words.
    private static func reason(said message: Message) -> String? {
        guard message.source == .swift, message.text.hasPrefix("Swift/") || message.text.contains(": Precondition failed") else { return nil }
        return reason(ofTrap: message.text)
    }

    private static func reason(ofTrap words: String) -> String? {
        let words = words.lowercased()
        return trapReasons.first { words.contains($0.words) }?.reason
    }

    /// Refine the reason once the frames have symbols.
    ///
    /// - Parameters:
    ///   - trap: the compiler's reason for a trap at the crashed address; nil: none.
    ///   - isOfSwift: whether the compiler is that of Swift, and not clang.
    public mutating func refine(trap: String?, isOfSwift: Bool = true) {
        if let trap {
            if messages?.isEmpty ?? true { message = message ?? trap }
            guard isOfSwift else { return }
            reason = Self.reason(ofTrap: trap) ?? "trap.swift"
        } else if kind.hasPrefix("trap."), isInDispatch {
            reason = "trap.dispatch"
        }
    }

    /// The Swift compiler's words, the more specific first.
    private static let trapReasons: [(words: String, reason: String)] = [
        ("division by zero", "trap.swift.div0"), ("overflow", "trap.swift.overflow"), ("not enough bits", "trap.swift.overflow"),
        ("out of range", "trap.swift.bounds"), ("out of bounds", "trap.swift.bounds"), ("nil", "trap.swift.nil"),
        ("cast", "trap.swift.cast"), ("lowerbound", "trap.swift.range"), ("shift", "trap.swift.shift"),
        ("precondition", "trap.swift.precondition"), ("fatal error", "trap.swift.fatal_error"),
    ]

    /// Whether libdispatch ended the program: the only sign is a trap in a function with a telling
    /// name.
    private var isInDispatch: Bool {
        guard let top = stack?.frames.first else { return false }
        if let symbols = top.symbols, let name = symbols.last.map({ $0.mangledName ?? $0.name }) {
            let prefixes = ["_dispatch_", "dispatch_", "__DISPATCH_WAIT_FOR_QUEUE__"]
            return prefixes.contains { name.hasPrefix($0) }
        }
        return top.module?.lastPathPart.hasPrefix("libdispatch.so") == true
    }
}
