import Glibc

/// Run a body that blocks on a thread of its own, and suspend meanwhile.
///
/// - Throws: ``LaunchGuardError/Code/system`` when no thread can be made.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(LaunchGuardError) -> Value {
    try await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, LaunchGuardError>, Never>) in
        let work = unsafe Unmanaged.passRetained(Work { continuation.resume(returning: .success(body())) })
        var thread = pthread_t()
        let error = unsafe pthread_create(&thread, nil, runWork, work.toOpaque())
        guard error == 0 else {
            unsafe work.release()
            return continuation.resume(returning: .failure(LaunchGuardError(.system, errno: error)))
        }
        pthread_detach(thread)
    }.get()
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
