/// A point in time by the wall clock of the machine, which may have been set since.
public struct WallInstant: InstantProtocol, Codable {
    /// The time since the beginning of 1970, without leap seconds.
    public let sinceEpoch: Duration

    /// Make the instant that long after the beginning of 1970.
    public init(sinceEpoch: Duration) { self.sinceEpoch = sinceEpoch }

    /// The instant that much later.
    public func advanced(by duration: Duration) -> Self { Self(sinceEpoch: sinceEpoch + duration) }

    /// The time from this instant to another one.
    public func duration(to other: Self) -> Duration { other.sinceEpoch - sinceEpoch }

    /// Whether the first one is earlier.
    public static func < (one: Self, other: Self) -> Bool { one.sinceEpoch < other.sinceEpoch }
}

extension WallInstant {
    /// `nil` for 0, which stands for none in C.
    init?(nanoseconds: UInt64) {
        guard nanoseconds > 0 else { return nil }
        self.init(sinceEpoch: .seconds(Int64(nanoseconds / 1_000_000_000)) + .nanoseconds(Int64(nanoseconds % 1_000_000_000)))
    }
}
