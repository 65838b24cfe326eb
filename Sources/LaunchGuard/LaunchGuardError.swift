/// A problem and its remedy.
public struct LaunchGuardError: Error, Hashable, Sendable {
    /// The kind of error.
    public let code: Code

    /// The system's error number, for ``Code/system`` only. C: `errno`.
    public let systemError: Int32?

    /// One sentence for a log or a person, with the path or the value in question where there is
    /// one.
    public let message: String
}

extension LaunchGuardError: CustomStringConvertible {
    /// The code's name and the message, for example "no-space: the file system of the state
    /// directory is full; …".
    public var description: String {
        guard let systemError else { return "\(code): \(message)" }
        return "\(code): \(message) (errno \(systemError))"
    }
}
