internal import CLaunchGuard
import Synchronization

/// Services of this product for the other products.
extension Session {
    /// C: `lg_session *`, which every thread may use.
    package var pointer: OpaquePointer? { unsafe core.pointer }

    /// Call the last such closure, after ``Session/stop()``.
    package func endGuards(by body: @escaping @Sendable () -> Void) { guardsEnd.withLock { $0 = body } }

    /// Throw the error of a status of C that is not LG_OK. Call this function before anything else
    /// can change errno.
    package static func check(status: UInt32) throws(LaunchGuardError) {
        if let error = Core.error(.init(rawValue: status)) { throw error }
    }
}
