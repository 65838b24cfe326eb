public import LaunchGuard
import Synchronization

/// The switchboard of all guards: ``LaunchGuard/Session/guards``.
///
/// A guard is an operation or a type that the program uses on purpose, in place of the one that
/// crashes: `array[guarded: i]` in place of `array[i]`. A fault is then neutralised and reported,
/// as the ``GuardPolicy`` says. Each class of guards is on or off. Before ``start(_:)``, after
/// ``stop()``, in forked children, and where a class is off, each guarded operation is the
/// unguarded one: it crashes where that crashes.
///
/// ```swift
/// var configuration = Guards.Configuration()
/// configuration.onEvent = { event in print("a bug: \(event.text)") }
/// try session.guards.start(configuration)
///
/// let title = titles[guarded: row] ?? "–"
/// ```
///
/// Any thread may call every member.
public struct Guards: Sendable {
    let core: CoreGuards

    /// Start the guards.
    ///
    /// What is missing in the environment does not keep the program from running: it is in the log,
    /// and ``problem`` is the reason.
    ///
    /// - Throws: `LaunchGuardError` for a mistake in the call alone: `already` where the guards are
    ///   started, and nothing changes; `option` for a value that makes no sense, and for no class;
    ///   `closed` after `Session.stop()`; `forked` in a forked child.
    public func start(_ configuration: Configuration = Configuration()) throws(LaunchGuardError) {
        try core.degrade { () throws(LaunchGuardError) in try core.start(configuration) }
    }

    /// The problem of the environment for which the last ``start(_:)`` left guards off; `nil`
    /// without one. With the code `unprotected` the session has no handlers:
    /// ``GuardClass/memory`` and ``GuardClass/nullCall`` stay off, and all others work. With
    /// `system` no thread can be made for events, and all guards stay off.
    public var problem: LaunchGuardError? { CoreGuards.problem.withLock(\.self) }

    /// Stop the guards: from now on each guarded operation is the unguarded one. Events that wait
    /// are still reported. Guards can be started again.
    public func stop() { core.stop() }

    /// Whether any class is on.
    public var isWorking: Bool { !classes.isEmpty }

    /// Whether a class is on.
    public func isWorking(_ guardClass: GuardClass) -> Bool { CoreGuards.isWorking(guardClass) }

    /// The classes that are on; none before the start, after the stop and in forked children.
    public var classes: Set<GuardClass> { Set(GuardClass.allCases.filter(CoreGuards.isWorking)) }

    /// Change the set of classes that are on.
    ///
    /// - Throws: `LaunchGuardError` with the code `state` where the guards are not started;
    ///   `closed` and `forked` as ``start(_:)``.
    public func setClasses(_ classes: Set<GuardClass>) throws(LaunchGuardError) {
        try core.degrade { () throws(LaunchGuardError) in try core.setClasses(classes) }
    }

    /// Change the policy of some classes.
    ///
    /// - Throws: `LaunchGuardError` with the code `state` where the guards are not started;
    ///   `closed` and `forked` as ``start(_:)``.
    public func setPolicy(_ policy: GuardPolicy, for classes: Set<GuardClass> = .all) throws(LaunchGuardError) {
        try core.degrade { () throws(LaunchGuardError) in try core.setPolicy(policy, classes) }
    }

    /// Replace the lists of modules whose calls are guarded. A module is a file name without its
    /// folder, for example "libfilter.so". Denied ones go before allowed ones; without any allowed
    /// one, typed guards hold everywhere. Each ``start(_:)`` begins without lists of modules.
    ///
    /// - Throws: `LaunchGuardError` with the code `state` where the guards are not started; `limit`
    ///   for more than 256 names; `option` for a name that is empty or has a slash; `closed` and
    ///   `forked` as ``start(_:)``.
    public func setModules(allowed: [String] = [], denied: [String] = []) throws(LaunchGuardError) {
        try core.degrade { () throws(LaunchGuardError) in try core.setModules(allowed, denied) }
    }

    /// Guards of Swift hold for this type and its subclasses, and from now on only for types that
    /// are allowed. The type of a guard is that of its owner or container, or of the elements, of
    /// the number or of the string. A protocol is no type in this sense: it allows nothing.
    public func allow<Subject>(_ type: Subject.Type) { GuardedTypes.allow(type) }

    /// Guards of Swift do not hold for this type and its subclasses, also where they are allowed.
    public func deny<Subject>(_ type: Subject.Type) { GuardedTypes.deny(type) }

    /// Take back every ``allow(_:)`` and ``deny(_:)``. They last until then, also across ``stop()``
    /// and ``start(_:)``.
    public func forgetTypes() { GuardedTypes.forget() }

    /// The events from now on until ``stop()``. See ``GuardEvent``.
    public var events: Events { Events() }
}

extension Session {
    /// The guards of the program: chosen faults are neutralised and reported.
    public var guards: Guards { Guards(core: CoreGuards(self)) }
}
