/// Calls about any program, from its files.
extension Launch {
    /// The status of any program's context, without a session and without any change. For a living
    /// program the status is the present one. For an ended program it is the status of the next
    /// launch if that launch began now.
    ///
    /// The forecast uses the thresholds and repairs of the program's last launch. A new version,
    /// other options and other repairs may change the result. The call reads files, so it may block
    /// for a moment. Any thread may make it.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - stateDirectory: of the program, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no ledger or no such context in
    ///   it; ``LaunchGuardError/Code/damaged`` or ``LaunchGuardError/Code/newer`` for a ledger that
    ///   cannot be read;
    ///   ``LaunchGuardError/Code/permission``, ``LaunchGuardError/Code/link`` or
    ///   ``LaunchGuardError/Code/system``.
    public static func info(of context: String, stateDirectory: String) throws(LaunchGuardError) -> LaunchInfo {
        try Core.launchInfo(of: context, stateDirectory: stateDirectory, options: nil)
    }

    /// The same by the configuration of the asker instead of those of the program's last launch.
    ///
    /// - Throws: also ``LaunchGuardError/Code/option`` for a value that makes no sense.
    public static func info(
        of context: String, stateDirectory: String, by configuration: Configuration
    ) throws(LaunchGuardError) -> LaunchInfo {
        let options = try LaunchOptions(name: context, configuration)
        return try Core.launchInfo(of: context, stateDirectory: stateDirectory, options: options)
    }

    /// Mark the launch of another process, a child for example, as finished: a supervisor has seen
    /// that the program works.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - pid: of the process. The call uses its newest run.
    ///   - stateDirectory: of the program, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no run of this process or no such
    ///   launch in it; ``LaunchGuardError/Code/state`` where the launch is held, where only time
    ///   finishes it, and after the end of the process; the errors of
    ///   ``Session/witness(_:of:stateDirectory:)`` about files.
    public static func witnessFinished(_ context: String, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        try Core.witnessFinished(context, of: pid, stateDirectory: stateDirectory)
    }

    /// Forget the trouble of a context: its streak, ladder, safe mode and suspects, and the end of
    /// its last run. The totals and the timeline stay. For a supervisor or an operator who has
    /// repaired the program from outside, while the program does not run.
    ///
    /// - Parameters:
    ///   - context: name of the launch; `nil`: all.
    ///   - stateDirectory: of the program, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/secondary`` while a process with these files lives; the
    ///   errors of ``info(of:stateDirectory:)`` and of files that are written.
    public static func reset(_ context: String?, stateDirectory: String) throws(LaunchGuardError) {
        try Core.resetLaunch(context, stateDirectory: stateDirectory)
    }

    /// The status of a context of the program whose files are in the directory of
    /// ``Session/stateDirectory(appID:)``.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - appID: of the program.
    ///   - role: of the process, if it has one.
    public static func info(of context: String, appID: String, role: String? = nil) throws(LaunchGuardError) -> LaunchInfo {
        let directory = try Session.stateDirectory(appID: appID)
        return try info(of: context, stateDirectory: role.map { "\(directory)/\($0)" } ?? directory)
    }
}
