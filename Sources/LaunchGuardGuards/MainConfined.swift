internal import CCallSite

/// A value that is only touched on the main thread, for code that the compiler cannot place on the
/// main actor. Where it can, a property with `@MainActor` does better.
///
/// ```swift
/// let rows = MainConfined<[Row]>([])
/// rows.update { rows in rows.append(row) }
/// let count = rows.read { rows in rows.count }
/// ```
///
/// An access on another thread is a fault of ``GuardClass/confinement``. Unguarded it traps, as
/// `MainActor.assumeIsolated(_:)` does.
///
/// The value ends on the thread that drops the last reference to this object, whatever thread that
/// is.
@safe
public final class MainConfined<Value>: Sendable {
    /// Touched on the main actor alone.
    private nonisolated(unsafe) var value: Value

    /// Confine a value. Any thread may do so.
    public init(_ value: sending Value) { unsafe self.value = value }

    /// Change the value. Guarded, a change from another thread is made later, on the main actor;
    /// see ``_Concurrency/MainActor/assumeIsolatedGuarded(_:file:line:)`` about programs that do
    /// not serve the main queue.
    ///
    /// - Parameters:
    ///   - body: returns nothing, as its caller may not wait for it.
    ///   - file: of the call, for the message of a trap.
    ///   - line: of the call, for the message of a trap.
    @available(*, noasync, message: "await a function of the main actor that changes the value")
    @inline(never)
    public func update(_ body: @escaping @MainActor @Sendable (inout Value) -> Void, file: StaticString = #fileID, line: UInt = #line) {
        let site = unsafe Site(lg_shim_call_site())
        if isElsewhere("a confined value is changed", at: site) { return MainThread.send { unsafe body(&self.value) } }
        MainActor.assumeIsolated({ unsafe body(&value) }, file: file, line: line)
    }

    /// Read the value, or change it and have a result. Guarded, an access from another thread is
    /// refused.
    ///
    /// - Parameters:
    ///   - file: of the call, for the message of a trap.
    ///   - line: of the call, for the message of a trap.
    ///   - body: called on the main actor, or not at all.
    /// - Returns: the result of `body`, which was called; `nil` where the access was refused.
    @available(*, noasync, message: "await a function of the main actor that reads the value")
    @inline(never)
    public func read<Result: Sendable>(
        file: StaticString = #fileID, line: UInt = #line, _ body: @MainActor (inout Value) throws -> Result
    ) rethrows -> Result? {
        let site = unsafe Site(lg_shim_call_site())
        if isElsewhere("a confined value is read", at: site) { return nil }
        return try MainActor.assumeIsolated({ try unsafe body(&value) }, file: file, line: line)
    }

    private func isElsewhere(_ what: String, at site: Site) -> Bool {
        CoreGuards.isWorking(.confinement) && !MainThread.isCurrent && MainThread.claim(what, of: [Value.self], at: site)
    }
}
