/// A named value that says what the program was about.
///
/// A redacted annotation has its key alone, which shows that a value was left out.
public struct Annotation: Codable, Hashable, Sendable {
    public var key: String
    /// Nil where it is redacted.
    public var value: String?
    /// When it was set; nil where it is redacted.
    public var time: Timestamp?
    /// The same moment on the monotonic clock.
    public var monotonicNanoseconds: UInt64?
    /// Whether the value was longer than it may be.
    public var isCut: Bool
    /// Whether the program said that the value must not leave the machine.
    public var isRedacted: Bool

    /// One with a value.
    public init(key: String, value: String, time: Timestamp? = nil, monotonicNanoseconds: UInt64? = nil, isCut: Bool = false) {
        self.key = key
        self.value = value
        self.time = time
        self.monotonicNanoseconds = monotonicNanoseconds
        self.isCut = isCut
        isRedacted = false
    }

    /// One that is redacted.
    public init(redacted key: String) {
        self.key = key
        isCut = false
        isRedacted = true
    }
}
