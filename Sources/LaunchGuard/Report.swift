/// One ended run, as ``Launch/Configuration/onReport`` receives it.
public struct Report: Hashable, Sendable, Codable {
    /// Path of the run file, which stays in its place until retention removes it.
    public let path: String
    /// The run's UUID in text form.
    public let uuid: String
    /// Number of the run in its state directory, from 1.
    public let ordinal: UInt64
    /// End of the run.
    public let end: End
    /// The signal, for ``Report/End/crash`` and ``Report/End/terminated``.
    public let signal: Int32?
    /// Whether a launch of the context was under way; otherwise none was, or it was finished.
    public let isInLaunch: Bool
    /// Kind of a crash, for example "fault.null_write".
    public let kind: String?
    /// The same for equal ends; `nil` where the run file is gone or damaged.
    public let fingerprint: String?
    /// Whether the run before it that ended badly has the same fingerprint.
    public let isSameAsBefore: Bool
    /// The innermost frame in the program's own code, of a crash or a hang: a module and an address
    /// in its file, for example "libplayer.so+0x12f4".
    public let place: String?

    /// A run as it is given, for tests of ``Launch/Configuration/onReport``.
    public init(
        path: String, uuid: String, ordinal: UInt64, end: End, signal: Int32? = nil, isInLaunch: Bool = true, kind: String? = nil,
        fingerprint: String? = nil, isSameAsBefore: Bool = false, place: String? = nil
    ) {
        self.path = path
        self.uuid = uuid
        self.ordinal = ordinal
        self.end = end
        self.signal = signal
        self.isInLaunch = isInLaunch
        self.kind = kind
        self.fingerprint = fingerprint
        self.isSameAsBefore = isSameAsBefore
        self.place = place
    }
}
