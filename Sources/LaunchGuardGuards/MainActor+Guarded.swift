internal import CCallSite

extension MainActor {
    /// Call a function of the main actor from code that is on the main thread, and that the
    /// compiler does not know to be there: `MainActor.assumeIsolated(_:)` that stands the wrong
    /// thread.
    ///
    /// ```swift
    /// library.onChange = { MainActor.assumeIsolatedGuarded { window.refresh() } }
    /// ```
    ///
    /// On another thread the call is a fault of ``GuardClass/confinement``. Guarded, the function
    /// is called later, on the main actor. Unguarded, the call is `MainActor.assumeIsolated(_:)`,
    /// which traps.
    ///
    /// A program that does not serve the main queue never makes the later call. Where the main
    /// actor has not come to the call after two seconds, this is an event of its own.
    ///
    /// - Parameters:
    ///   - operation: returns nothing, as its caller may not wait for it.
    ///   - file: of the call, for the message of a trap.
    ///   - line: of the call, for the message of a trap.
    @available(*, noasync, message: "await the call to the @MainActor closure directly")
    @inline(never)
    public static func assumeIsolatedGuarded(
        _ operation: @escaping @MainActor @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line
    ) {
        let site = unsafe Site(lg_shim_call_site())
        if CoreGuards.isWorking(.confinement), !MainThread.isCurrent,
            MainThread.claim("a function of the main actor is called", of: [], at: site)
        {
            return MainThread.send(operation)
        }
        assumeIsolated(operation, file: file, line: line)
    }
}
