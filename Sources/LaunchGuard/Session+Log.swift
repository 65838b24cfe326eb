// Among the functions of one name, a call with a literal uses the one with a `LogMessage`, and a
// call with a variable uses a disfavoured one. A parameter of the type `String` would win over
// `LogMessage` for a literal, too, so the disfavoured ones take any `StringProtocol`.

extension Session {
    /// Append a breadcrumb to the ring log. When the call has returned, the breadcrumb survives any
    /// death of the process.
    ///
    /// The text is cut after 4000 bytes. Any thread may call, without a lock. A text with values
    /// costs one allocation, a text without values none.
    @inlinable
    public func log(_ level: LogLevel, _ message: LogMessage) {
        if let interpolation = message.interpolation { log(level, interpolation) } else { log(level, message.literal) }
    }

    /// Append a breadcrumb of any text.
    @_disfavoredOverload @inlinable
    public func log(_ level: LogLevel, _ message: some StringProtocol) {
        log(level, text: String(message))
    }

    /// Append a breadcrumb of constant text.
    @_disfavoredOverload
    public func log(_ level: LogLevel, _ message: StaticString) {
        message.withUTF8Buffer { unsafe core.log(level, UnsafeRawBufferPointer($0)) }
    }

    /// Append a breadcrumb with a category.
    ///
    /// - Parameters:
    ///   - level: its importance.
    ///   - message: its text, cut after 4000 bytes.
    ///   - category: the part of the program that logs, for example "network"; cut to 63 bytes.
    public func log(_ level: LogLevel, _ message: LogMessage, category: String) {
        unsafe message.withBytes { unsafe core.log(level, category, $0, []) }
    }

    /// Append a breadcrumb of any text with a category.
    @_disfavoredOverload @inlinable
    public func log(_ level: LogLevel, _ message: some StringProtocol, category: String) {
        log(level, text: String(message), category: category, fields: [:])
    }

    /// Append a breadcrumb with a category and fields.
    ///
    /// The whole breadcrumb has room for 4000 bytes. A field that does not fit is left out, and the
    /// breadcrumb is marked as cut.
    ///
    /// - Parameters:
    ///   - level: its importance.
    ///   - message: its text.
    ///   - category: the part of the program that logs, for example "network"; cut to 63 bytes.
    ///   - fields: keys and values; a field without a key is left out.
    public func log(
        _ level: LogLevel, _ message: LogMessage, category: String? = nil, fields: LogFields
    ) {
        unsafe message.withBytes { unsafe core.log(level, category, $0, fields.pairs) }
    }

    /// Append a breadcrumb of any text with a category and fields.
    @_disfavoredOverload @inlinable
    public func log(
        _ level: LogLevel, _ message: some StringProtocol, category: String? = nil, fields: LogFields
    ) {
        log(level, text: String(message), category: category, fields: fields)
    }

    @usableFromInline func log(_ level: LogLevel, _ interpolation: LogMessage.StringInterpolation) {
        unsafe interpolation.withBytes { unsafe core.log(level, $0) }
    }

    @usableFromInline func log(_ level: LogLevel, text: String) {
        core.log(level, text)
    }

    @usableFromInline func log(_ level: LogLevel, text: String, category: String?, fields: LogFields) {
        var text = text
        text.withUTF8 { unsafe core.log(level, category, UnsafeRawBufferPointer($0), fields.pairs) }
    }
}
