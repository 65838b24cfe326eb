extension Session {
    /// Set a named value that describes what the program is doing, for example `annotate("screen",
    /// "settings")`; `nil` removes it. The report has the last value of each key, even if the
    /// process dies at the next instruction.
    ///
    /// The value is cut after 495 bytes, and at its first NUL. Any thread may call, without a lock.
    ///
    /// - Returns: whether the value is stored: the key has 1 to 63 bytes, is one of at most 64, and
    ///   the session has files.
    @discardableResult
    public func annotate(_ key: String, _ value: String?) -> Bool {
        core.annotate(key, value)
    }

    /// Keep the values of a key out of every export, as an annotation, as a field of a breadcrumb
    /// and in texts, for earlier and for later values. The value stays readable in the run file
    /// itself.
    ///
    /// - Returns: whether the redaction is stored, as for ``annotate(_:_:)``. Without it, set no
    ///   value with this key.
    @discardableResult
    public func redact(_ key: String) -> Bool {
        core.redact(key)
    }
}
