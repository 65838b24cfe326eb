internal import CLaunchGuard

extension LaunchGuardError.Code {
    /// The code of a result of the C core.
    init(_ status: lg_status) { self.init(rawValue: status.rawValue) }

    static let ok = Self(LG_OK)

    /// A required argument is missing.
    public static let argument = Self(LG_ERR_ARGUMENT)
    /// An option has a value that makes no sense.
    public static let option = Self(LG_ERR_OPTION)
    /// A system call failed.
    public static let system = Self(LG_ERR_SYSTEM)
    /// No state directory is known.
    public static let noDirectory = Self(LG_ERR_NO_DIRECTORY)
    /// The state directory's path, or a part of it, is not a directory.
    public static let notDirectory = Self(LG_ERR_NOT_DIRECTORY)
    /// A symbolic link stands where the state directory or one of its files belongs.
    public static let link = Self(LG_ERR_LINK)
    /// The state directory or one of its files belongs to another user.
    public static let owner = Self(LG_ERR_OWNER)
    /// This user may not write to the state directory.
    public static let permission = Self(LG_ERR_PERMISSION)
    /// The state directory is on a read-only file system.
    public static let readOnly = Self(LG_ERR_READ_ONLY)
    /// The file system of the state directory is full.
    public static let noSpace = Self(LG_ERR_NO_SPACE)
    /// A file is damaged; its readable parts were kept.
    public static let damaged = Self(LG_ERR_DAMAGED)
    /// A file was written by a newer, incompatible version.
    public static let newer = Self(LG_ERR_NEWER)
    /// Another live process of this application holds the ledger.
    public static let secondary = Self(LG_ERR_SECONDARY)
    /// This process made the call before.
    public static let already = Self(LG_ERR_ALREADY)
    /// The session was stopped.
    public static let closed = Self(LG_ERR_CLOSED)
    /// This is a forked child.
    public static let forked = Self(LG_ERR_FORKED)
    /// LaunchGuard did not survive its own last starts and disabled itself.
    public static let disabled = Self(LG_ERR_DISABLED)
    /// Nothing has that name or number.
    public static let notFound = Self(LG_ERR_NOT_FOUND)
    /// A fixed limit is reached.
    public static let limit = Self(LG_ERR_LIMIT)
    /// The call is not possible in this state.
    public static let state = Self(LG_ERR_STATE)
    /// The name is taken already.
    public static let duplicate = Self(LG_ERR_DUPLICATE)
    /// The session has no files.
    public static let unprotected = Self(LG_ERR_UNPROTECTED)
    /// The time allowed has passed.
    public static let timeout = Self(LG_ERR_TIMEOUT)
    /// The program's own callback reported a failure.
    public static let failed = Self(LG_ERR_FAILED)
    /// This part was not committed before the process ended.
    public static let incomplete = Self(LG_ERR_INCOMPLETE)
    /// A repair succeeded that needs a restart of the program.
    public static let restart = Self(LG_ERR_RESTART)
    /// The program is asked to end, or has announced its end.
    public static let interrupted = Self(LG_ERR_INTERRUPTED)
    /// The task of the caller was cancelled.
    public static let cancelled = Self(LG_ERR_CANCELLED)
    /// LaunchGuard does not know this platform: the program runs as without it.
    public static let unsupported = Self(LG_ERR_UNSUPPORTED)
    /// No program `launchguard-agent` was found; reports stay owed.
    public static let noAgent = Self(LG_ERR_NO_AGENT)
}
