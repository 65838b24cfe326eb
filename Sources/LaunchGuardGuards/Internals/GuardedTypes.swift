import Synchronization

/// The lists of types for which typed guards hold.
enum GuardedTypes {
    private struct Lists {
        var allowed: [@Sendable (any Any.Type) -> Bool] = []
        var denied: [@Sendable (any Any.Type) -> Bool] = []
    }

    private static let lists = Mutex(Lists())

    static func allow<Subject>(_: Subject.Type) {
        lists.withLock { $0.allowed.append { $0 is Subject.Type } }
    }

    static func deny<Subject>(_: Subject.Type) {
        lists.withLock { $0.denied.append { $0 is Subject.Type } }
    }

    static func forget() {
        lists.withLock { $0 = Lists() }
    }

    /// Deny goes before allow; without any allowed type guards hold for all.
    static func hold(for subjects: [any Any.Type]) -> Bool {
        let (allowed, denied) = lists.withLock { ($0.allowed, $0.denied) }
        func isNamed(in list: [@Sendable (any Any.Type) -> Bool]) -> Bool {
            list.contains { names in subjects.contains { names($0) } }
        }
        return !isNamed(in: denied) && (allowed.isEmpty || isNamed(in: allowed))
    }
}
