internal import CLaunchGuard

extension CoreSession {
    func watchMemory(_ percent: Int, _ onNear: (@Sendable (LaunchGuard.Memory) -> Void)?) -> LaunchGuardError? {
        // A number that cannot be a percentage is refused as such.
        let percent = UInt32(exactly: percent) ?? 0
        guard let onNear else { return Core.error(unsafe lg_memory_watch(pointer, percent, nil, nil)) }
        // Retained for good, as the watch has no end.
        let warning = unsafe Unmanaged.passRetained(Warning(onNear))
        let status = unsafe lg_memory_watch(
            pointer, percent,
            { memory, warning in
                guard let memory = unsafe memory?.pointee, let warning = unsafe warning else { return }
                unsafe Unmanaged<Warning>.fromOpaque(warning).takeUnretainedValue().onNear(LaunchGuard.Memory(memory))
            }, warning.toOpaque())
        let error = Core.error(status)
        if error != nil { unsafe warning.release() }
        return error
    }
}

private final class Warning: Sendable {
    let onNear: @Sendable (LaunchGuard.Memory) -> Void

    init(_ onNear: @escaping @Sendable (LaunchGuard.Memory) -> Void) { self.onNear = onNear }
}

extension LaunchGuard.Memory {
    fileprivate init(_ memory: lg_memory) {
        self.init(usedBytes: memory.used, limitBytes: memory.limit, percent: Int(memory.percent), isOfCgroup: memory.of_cgroup != 0)
    }
}
