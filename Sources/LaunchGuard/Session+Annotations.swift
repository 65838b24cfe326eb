extension LaunchGuard.Session {
    /// Set a named value that says what the program is about, for example `annotate("screen", "settings")`; `nil` takes it away. The last value of each
    /// key is in the report, whatever the process dies of at the next instruction.
    ///
    /// The value is cut after 495 bytes, and at its first NUL. Callable from any thread, without a lock. C: `lg_annotate()`.
    ///
    /// - Returns: whether it is stored: the key has 1 to 63 bytes, is one of at most 64, and the session has files.
    @discardableResult
    public func annotate(_ key: String, _ value: String?) -> Bool {
        core.annotate(key, value)
    }

    /// What this key holds leaves in no export, neither as an annotation nor as a field of a breadcrumb: what was set before, and what comes later. It stays
    /// readable in the run file itself, and what else holds the same text, as the stack of a crash may, is not looked for. C: `lg_redact()`.
    ///
    /// - Returns: whether it is stored, as for ``annotate(_:_:)``. Where it is not, nothing with this key should be set.
    @discardableResult
    public func redact(_ key: String) -> Bool {
        core.redact(key)
    }
}
