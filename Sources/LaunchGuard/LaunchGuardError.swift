/// A problem and its remedy.
public struct LaunchGuardError: Error, Sendable {
    /// The kind of error.
    public let code: Code

    /// The system's error number, for ``Code/system`` only.
    public let systemError: Int32?

    /// One sentence for a log or a person, with the path or the value in question where there is
    /// one.
    public let message: String

    /// Key of the essential task that failed; `nil` for an error that no task is the cause of.
    public let failedTask: String?

    /// The error that ``failedTask`` threw.
    public let underlying: (any Error)?
}

/// Two errors are equal without a look at ``underlying``, which need not be comparable; its text is
/// in ``message``.
extension LaunchGuardError: Hashable {
    /// Whether code, system error, message and failed task are the same.
    public static func == (one: Self, other: Self) -> Bool {
        (one.code, one.systemError, one.message, one.failedTask) == (other.code, other.systemError, other.message, other.failedTask)
    }

    /// Hash what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(systemError)
        hasher.combine(message)
        hasher.combine(failedTask)
    }
}

extension LaunchGuardError: CustomStringConvertible {
    /// The code's name and the message, for example "no-space: the file system of the state
    /// directory is full; …".
    public var description: String {
        guard let systemError else { return "\(code): \(message)" }
        return "\(code): \(message) (errno \(systemError))"
    }
}
