extension LaunchGuard {
    /// The status of any program's context, without a session and without any change. For a living
    /// program the status is the present one. For an ended program it is the status of the next
    /// launch if that launch began now. C: `lg_launch_query()`.
    ///
    /// The forecast uses the thresholds and repairs of the program's last launch. A new version,
    /// other options and other repairs may change the result. The call reads files, so it may block
    /// for a moment. Any thread may make it.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - stateDirectory: of the program, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no ledger or no such context in
    ///   it; ``LaunchGuardError/Code/damaged``, ``LaunchGuardError/Code/newer`` or
    ///   ``LaunchGuardError/Code/older`` for a ledger that cannot be read;
    ///   ``LaunchGuardError/Code/permission``, ``LaunchGuardError/Code/link`` or
    ///   ``LaunchGuardError/Code/system``.
    public static func launchInfo(of context: String, stateDirectory: String) throws(LaunchGuardError) -> LaunchInfo {
        try Core.launchInfo(of: context, stateDirectory: stateDirectory, options: nil)
    }

    /// The same by thresholds of the asker instead of those of the program's last launch. C:
    /// `lg_launch_query()`.
    ///
    /// - Throws: also ``LaunchGuardError/Code/option`` for a threshold that makes no sense.
    public static func launchInfo(
        of context: String, stateDirectory: String, reportAfter: Int = 1, repairAfter: Int, unknownAfter: Int? = nil,
        policy: LaunchPolicy = LaunchPolicy()
    ) throws(LaunchGuardError) -> LaunchInfo {
        let options = try LaunchOptions(
            name: context, reportAfter: reportAfter, repairAfter: repairAfter, unknownAfter: unknownAfter, window: .seconds(5),
            finish: .either, reportWait: .zero, policy: policy)
        return try Core.launchInfo(of: context, stateDirectory: stateDirectory, options: options)
    }

    /// Forget the trouble of a context: its streak, ladder, safe mode and suspects, and the end of
    /// its last run. The totals and the timeline stay. For a supervisor or an operator who has
    /// repaired the program from outside, while the program does not run. C: `lg_launch_reset()`.
    ///
    /// - Parameters:
    ///   - context: name of the launch; `nil`: all.
    ///   - stateDirectory: of the program, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/secondary`` while a process with these files lives; the
    ///   errors of ``launchInfo(of:stateDirectory:)`` and of files that are written.
    public static func resetLaunch(_ context: String?, stateDirectory: String) throws(LaunchGuardError) {
        try Core.resetLaunch(context, stateDirectory: stateDirectory)
    }

    /// The status of a context of the program whose files are in the directory of
    /// ``stateDirectory(appID:)``. C: `lg_launch_query()`.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - appID: of the program.
    ///   - role: of the process, if it has one.
    public static func launchInfo(of context: String, appID: String, role: String? = nil) throws(LaunchGuardError) -> LaunchInfo {
        let directory = try stateDirectory(appID: appID)
        return try launchInfo(of: context, stateDirectory: role.map { "\(directory)/\($0)" } ?? directory)
    }

    /// The default state directory of
    /// ``start(appID:version:stateDirectory:role:ringBytes:deadline:handlerDeadline:keepRuns:keepBytes:record:)``.
    /// C: `lg_state_directory()`.
    ///
    /// - Throws: ``LaunchGuardError/Code/noDirectory`` when none is known;
    ///   ``LaunchGuardError/Code/option`` for a name that makes no sense.
    public static func stateDirectory(appID: String) throws(LaunchGuardError) -> String {
        try Core.stateDirectory(appID: appID)
    }

    /// Store a child's wait status in its run file. Call it after `waitpid`. An exit or a kill that
    /// left no mark is then known exactly. C: `lg_witness()`.
    ///
    /// - Parameters:
    ///   - waitStatus: from `waitpid`.
    ///   - pid: of the child. The call uses the newest run with this pid.
    ///   - stateDirectory: of the program that ended, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no run of this process;
    ///   ``LaunchGuardError/Code/state`` while the process is alive;
    ///   ``LaunchGuardError/Code/already`` when a status is stored already, or a later start of the
    ///   program has classified the run without it;
    ///   ``LaunchGuardError/Code/argument`` for the status of a process that has not ended; the
    ///   errors of files as ``launchInfo(of:stateDirectory:)``.
    public static func witness(_ waitStatus: Int32, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        try Core.witness(waitStatus, of: pid, stateDirectory: stateDirectory)
    }
}
