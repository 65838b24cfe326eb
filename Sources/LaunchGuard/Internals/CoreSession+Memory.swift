internal import CLaunchGuard
import Synchronization

extension CoreSession {
    func watchMemory(_ percent: Int, _ onNear: (@Sendable (Session.Memory) -> Void)?) throws(LaunchGuardError) {
        // A number that cannot be a percentage is refused as such.
        let percent = UInt32(exactly: percent) ?? 0
        let warning = onNear.map(Warning.init)
        let error = Warning.watched.withLock { watched in
            let error = unsafe Core.error(lg_memory_watch(pointer, percent, warning == nil ? nil : Warning.callback, warning?.user))
            if error == nil, !isSimulated { watched = warning }
            return error
        }
        if let error { throw error }
    }

    func stopWatchingMemory() {
        let warning = Warning.watched.withLock(\.self)
        guard unsafe lg_memory_unwatch(pointer) == LG_OK, !isSimulated else { return }
        Warning.watched.withLock { if $0 === warning { $0 = nil } }
    }
}

/// The closure of a watch.
private final class Warning: Sendable {
    /// Keeps the closure as long as the thread of the watch may call it. A next watch begins only
    /// when that thread has ended.
    static let watched = Mutex<Warning?>(nil)

    let onNear: @Sendable (Session.Memory) -> Void

    init(_ onNear: @escaping @Sendable (Session.Memory) -> Void) { self.onNear = onNear }

    var user: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    static let callback: lg_memory_callback = { memory, user in
        guard let memory = unsafe memory?.pointee, let user = unsafe user else { return }
        unsafe Unmanaged<Warning>.fromOpaque(user).takeUnretainedValue().onNear(Session.Memory(memory))
    }
}

extension Session.Memory {
    fileprivate init(_ memory: lg_memory) {
        self.init(usedBytes: memory.used, limitBytes: memory.limit, percent: Int(memory.percent), isOfCgroup: memory.of_cgroup != 0)
    }
}
