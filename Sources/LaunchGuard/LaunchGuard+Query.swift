extension LaunchGuard {
    /// The status of any program's context, without a session and without changing anything: of a living program as it is now, else
    /// what its next launch would be if it began now. C: `lg_launch_query()`.
    ///
    /// That is foreseen with the thresholds and repairs of its last launch; a new version, other options and other repairs may make it
    /// come out otherwise. Reads files, so it may block for a moment; callable from any thread.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - stateDirectory: of the program, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no ledger or no such context in it; ``LaunchGuardError/Code/damaged``,
    ///   ``LaunchGuardError/Code/newer`` or ``LaunchGuardError/Code/older`` for a ledger that cannot be read;
    ///   ``LaunchGuardError/Code/permission``, ``LaunchGuardError/Code/link`` or ``LaunchGuardError/Code/system``.
    public static func launchInfo(of context: String, stateDirectory: String) throws(LaunchGuardError) -> LaunchInfo {
        try Core.launchInfo(of: context, stateDirectory: stateDirectory)
    }

    /// The same of the program whose files are where ``stateDirectory(appID:)`` says. C: `lg_launch_query()`.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - appID: of the program.
    ///   - role: of the process, if it has one.
    public static func launchInfo(of context: String, appID: String, role: String? = nil) throws(LaunchGuardError) -> LaunchInfo {
        let directory = try stateDirectory(appID: appID)
        return try launchInfo(of: context, stateDirectory: role.map { "\(directory)/\($0)" } ?? directory)
    }

    /// The state directory that ``start(appID:version:stateDirectory:role:ringBytes:deadline:handlerDeadline:keepRuns:keepBytes:record:)`` uses
    /// when it is given none. C: `lg_state_directory()`.
    ///
    /// - Throws: ``LaunchGuardError/Code/noDirectory`` when none is known; ``LaunchGuardError/Code/option`` for a name that makes no sense.
    public static func stateDirectory(appID: String) throws(LaunchGuardError) -> String {
        try Core.stateDirectory(appID: appID)
    }

    /// Tell the run file of a dead process how it ended, for a supervisor that has waited for it: an exit without a mark, a kill and
    /// their like are then known exactly. C: `lg_witness()`.
    ///
    /// - Parameters:
    ///   - waitStatus: what `waitpid` gave.
    ///   - pid: of the process; its newest run is meant.
    ///   - stateDirectory: of the program that ended, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no run of this process; ``LaunchGuardError/Code/state`` while it is
    ///   alive; ``LaunchGuardError/Code/already`` when somebody told before; ``LaunchGuardError/Code/argument`` for the status of a process
    ///   that has not ended; the errors of files as ``launchInfo(of:stateDirectory:)``.
    public static func witness(_ waitStatus: Int32, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        try Core.witness(waitStatus, of: pid, stateDirectory: stateDirectory)
    }
}
