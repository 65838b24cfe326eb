internal import CThread
import Synchronization

/// Run a body that blocks on a thread of its own, and suspend meanwhile. The caller stays on its
/// actor, so that a blocked concurrency pool does not hold it up.
///
/// - Parameters:
///   - onCancel: called when the caller is cancelled.
///   - body: receives a function that returns whether the caller was cancelled.
/// - Throws: ``LaunchGuardError/Code/system`` when no thread can be made.
func onThread<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, onCancel: @Sendable () -> Void = {},
    _ body: @escaping @Sendable (_ isCancelled: () -> Bool) -> Value
) async throws(LaunchGuardError) -> Value {
    let cancelled = Flag()
    return try await withTaskCancellationHandler {
        _ = isolation  // A closure keeps the part of its isolation that it captures.
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, LaunchGuardError>, Never>) in
            let error = startThread { continuation.resume(returning: .success(body { cancelled.isSet })) }
            if error != 0 { continuation.resume(returning: .failure(LaunchGuardError(.system, errno: error))) }
        }
    } onCancel: {
        cancelled.set()
        onCancel()
    }.get()
}

/// Run a body on a thread of its own.
///
/// - Returns: 0, or the system's error number when the body does not run.
@discardableResult
func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let work = unsafe Unmanaged.passRetained(Work(body))
    let error = unsafe lg_shim_start_thread(runWork, work.toOpaque())
    if error != 0 { unsafe work.release() }
    return error
}

private final class Work: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runWork(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
    work.run()
    return nil
}

/// Any thread may set the flag, once.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
