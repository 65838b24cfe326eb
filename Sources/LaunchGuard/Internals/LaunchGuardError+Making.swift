extension LaunchGuardError {
    /// The error with a message of its own, or else with that of its code.
    init(_ code: Code, _ message: String? = nil, errno: Int32? = nil) {
        self.init(code: code, systemError: errno, message: message ?? code.message)
    }

    /// The same error with the name of its repair or task.
    func naming(_ kind: String, _ name: String) -> Self {
        Self(code: code, systemError: systemError, message: "\(kind) \"\(name)\": \(message)")
    }
}
