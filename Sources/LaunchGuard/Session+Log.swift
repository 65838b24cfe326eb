// Of the functions with one name the one with a `LogMessage` is called for what stands in quotation marks, the disfavoured ones for variables.
// A `String` as the type of a parameter would win over `LogMessage` there as well, so they take any `StringProtocol`.

extension LaunchGuard.Session {
    /// Append a breadcrumb to the ring log. When the call has returned, the breadcrumb survives any death of the process.
    ///
    /// The text is cut after 4000 bytes. Callable from any thread, without a lock. Values in the text cost one allocation, a text without them none.
    /// C: `lg_log_write()`.
    @inlinable
    public func log(_ level: LaunchGuard.Level, _ message: LaunchGuard.LogMessage) {
        if let interpolation = message.interpolation { log(level, interpolation) } else { log(level, message.literal) }
    }

    /// Append a breadcrumb of any text. C: `lg_log_write()`.
    @_disfavoredOverload @inlinable
    public func log(_ level: LaunchGuard.Level, _ message: some StringProtocol) {
        log(level, text: String(message))
    }

    /// Append a breadcrumb of constant text. C: `lg_log_write()`.
    @_disfavoredOverload
    public func log(_ level: LaunchGuard.Level, _ message: StaticString) {
        message.withUTF8Buffer { unsafe core.log(level, UnsafeRawBufferPointer($0)) }
    }

    /// Append a breadcrumb with a category. C: `lg_log_fields()`.
    ///
    /// - Parameter category: what part of the program it is of, for example "network"; at most 63 bytes, longer is cut.
    public func log(_ level: LaunchGuard.Level, _ message: LaunchGuard.LogMessage, category: String) {
        unsafe message.withBytes { unsafe core.log(level, category, $0, []) }
    }

    /// Append a breadcrumb of any text with a category. C: `lg_log_fields()`.
    @_disfavoredOverload @inlinable
    public func log(_ level: LaunchGuard.Level, _ message: some StringProtocol, category: String) {
        log(level, text: String(message), category: category, fields: [:])
    }

    /// Append a breadcrumb with a category and fields.
    ///
    /// All of it together takes 4000 bytes; a field that does not fit is left out, and the breadcrumb marked as cut. C: `lg_log_fields()`.
    ///
    /// - Parameters:
    ///   - category: what part of the program it is of, for example "network"; at most 63 bytes, longer is cut.
    ///   - fields: keys and values; a field without a key is left out.
    public func log(
        _ level: LaunchGuard.Level, _ message: LaunchGuard.LogMessage, category: String? = nil, fields: LaunchGuard.LogFields
    ) {
        unsafe message.withBytes { unsafe core.log(level, category, $0, fields.pairs) }
    }

    /// Append a breadcrumb of any text with a category and fields. C: `lg_log_fields()`.
    @_disfavoredOverload @inlinable
    public func log(
        _ level: LaunchGuard.Level, _ message: some StringProtocol, category: String? = nil, fields: LaunchGuard.LogFields
    ) {
        log(level, text: String(message), category: category, fields: fields)
    }

    @usableFromInline func log(_ level: LaunchGuard.Level, _ interpolation: LaunchGuard.LogMessage.StringInterpolation) {
        unsafe interpolation.withBytes { unsafe core.log(level, $0) }
    }

    @usableFromInline func log(_ level: LaunchGuard.Level, text: String) {
        core.log(level, text)
    }

    @usableFromInline func log(_ level: LaunchGuard.Level, text: String, category: String?, fields: LaunchGuard.LogFields) {
        var text = text
        text.withUTF8 { unsafe core.log(level, category, UnsafeRawBufferPointer($0), fields.pairs) }
    }
}
