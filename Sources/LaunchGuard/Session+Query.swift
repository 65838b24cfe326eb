/// Calls about any program, from its files.
extension Session {
    /// The default state directory of a program: ``Configuration/stateDirectory``.
    ///
    /// - Throws: ``LaunchGuardError/Code/noDirectory`` when none is known;
    ///   ``LaunchGuardError/Code/option`` for a name that makes no sense.
    public static func stateDirectory(appID: String) throws(LaunchGuardError) -> String {
        try Core.stateDirectory(appID: appID)
    }

    /// Store a child's wait status in its run file. Call it after `waitpid`. An exit or a kill that
    /// left no mark is then known exactly.
    ///
    /// - Parameters:
    ///   - waitStatus: from `waitpid`.
    ///   - pid: of the child. The call uses the newest run with this pid.
    ///   - stateDirectory: of the program that ended, with the folder of its role if it has one.
    /// - Throws: ``LaunchGuardError/Code/notFound`` when there is no run of this process;
    ///   ``LaunchGuardError/Code/state`` while the process is alive;
    ///   ``LaunchGuardError/Code/already`` when a status is stored already, or a later start of the
    ///   program has classified the run without it; ``LaunchGuardError/Code/argument`` for the
    ///   status of a process that has not ended; the errors of files as
    ///   ``Launch/info(of:stateDirectory:)``.
    public static func witness(_ waitStatus: Int32, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        try Core.witness(waitStatus, of: pid, stateDirectory: stateDirectory)
    }

    /// Store what a child said on standard error, after its end and before
    /// ``witness(_:of:stateDirectory:)``.
    ///
    /// - Parameters:
    ///   - bytes: the last ones, of which at most 16320 are stored.
    ///   - total: bytes in all.
    ///   - pid: of the child.
    ///   - stateDirectory: of the program that ended.
    /// - Throws: as ``witness(_:of:stateDirectory:)``; ``LaunchGuardError/Code/already`` when the
    ///   run has kept them itself.
    public static func witness(standardError bytes: [UInt8], total: UInt64, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        try Core.witness(standardError: bytes, total: total, of: pid, stateDirectory: stateDirectory)
    }
}
