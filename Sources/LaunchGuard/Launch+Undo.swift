/// Copies of the files that a repair changes, until a launch is good again. A repair that guessed
/// wrong then costs nothing.
///
/// ```swift
/// launch.addRepair("wipe the index", impact: 60) {
///     try Launch.keep("/var/lib/player/index.db")
///     try FileManager.default.removeItem(atPath: "/var/lib/player/index.db")
/// }
/// ```
///
/// The next repair puts them back by ``undo()``, a person by `launchguard undo`. The copies are
/// deleted by the first launch after one that was finished and was no launch in safe mode.
extension Launch {
    /// In the closure of a repair: keep a copy of a file, or of all regular files of a directory,
    /// before the repair changes it. A path with nothing there is remembered as such. A path that
    /// was kept before in this trouble keeps its first copy. The copies are on the disk when the
    /// call returns. Blocks meanwhile.
    ///
    /// - Parameter path: absolute, or relative to the working directory.
    /// - Throws: ``LaunchGuardError`` with the code `limit` where a context would have copies of
    ///   more than 256 MiB or 4096 files, or the call would take more than a quarter of the free
    ///   space; `system`; `state` outside of a repair, and where the repair is not wanted any more;
    ///   `unprotected` without a state directory. Change nothing then.
    public static func keep(_ path: String) throws(LaunchGuardError) { try CoreCompletion.current().keep(path) }

    /// In the closure of a repair: put back what earlier repairs of this trouble kept. Blocks
    /// meanwhile.
    ///
    /// - Throws: as ``undo(_:stateDirectory:)``; `state` as ``keep(_:)``.
    public static func undo() throws(LaunchGuardError) { try CoreCompletion.current().undo() }

    /// Put the kept files of a program back, which should not run: each as a whole, with its mode,
    /// owner and time. What was absent is deleted. The copies stay.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - stateDirectory: of the program.
    /// - Throws: ``LaunchGuardError`` with the code `notFound` where nothing is kept; `owner` where
    ///   the copies are another user's: make the call as that user; `system` where not all are
    ///   back.
    public static func undo(_ context: String, stateDirectory: String) throws(LaunchGuardError) {
        try Core.undo(context, stateDirectory: stateDirectory)
    }

    /// The kept paths of a program, in the order of the paths; none where nothing is kept.
    ///
    /// - Parameters:
    ///   - context: name of the launch.
    ///   - stateDirectory: of the program.
    public static func keptFiles(of context: String, stateDirectory: String) throws(LaunchGuardError) -> [KeptFile] {
        try Core.keptFiles(of: context, stateDirectory: stateDirectory)
    }
}
