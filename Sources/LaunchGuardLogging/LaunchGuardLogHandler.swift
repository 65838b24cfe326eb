#if SwiftLog
public import LaunchGuard
public import Logging

/// Writes the log of a program that uses swift-log as breadcrumbs, which survive any death of the
/// process.
///
/// ```swift
/// var configuration = Session.Configuration(appID: "org.example.player")
/// configuration.onLog = LaunchGuardLogHandler.forward()
/// let session = try Session.start(configuration)
/// LoggingSystem.bootstrap { label in
///     MultiplexLogHandler([
///         StreamLogHandler.standardError(label: label),
///         LaunchGuardLogHandler(label: label, session: session),
///     ])
/// }
/// ```
///
/// The label becomes the category. Metadata become fields, sorted by key; a dictionary in them
/// becomes a field for each of its values, `request.method` for example. An error becomes the
/// fields `error.message` and `error.type`. Breadcrumbs of ``locationLevel`` and above also have
/// the fields `file` and `line`. No call blocks, and every task and thread may log.
///
/// This handler alone shows nothing while the program lives: bootstrapped alone, it silences the
/// program. The handlers beside it show the log, with what LaunchGuard itself says
/// (``forward(to:)``).
public struct LaunchGuardLogHandler: LogHandler {
    /// Lowest level that is written.
    public var logLevel: Logger.Level
    /// Metadata of every breadcrumb; those of the provider and of the call count for more.
    public var metadata: Logger.Metadata = [:]
    /// Gives metadata at each call; those of the call count for more.
    public var metadataProvider: Logger.MetadataProvider?
    /// Lowest level whose breadcrumbs have the place in the source; nil: none.
    public var locationLevel: Logger.Level?

    private let session: Session
    private let label: String

    /// - Parameters:
    ///   - label: of the logger; the category of its breadcrumbs, cut to 63 bytes.
    ///   - session: of the process.
    ///   - logLevel: the lowest level that is written.
    ///   - metadataProvider: by default that of `LoggingSystem.bootstrap`, as for the handlers of
    ///     swift-log.
    ///   - locationLevel: lowest level whose breadcrumbs have the place in the source; nil: none.
    public init(
        label: String,
        session: Session,
        logLevel: Logger.Level = .info,
        metadataProvider: Logger.MetadataProvider? = LoggingSystem.metadataProvider,
        locationLevel: Logger.Level? = .warning
    ) {
        self.label = label
        self.session = session
        self.logLevel = logLevel
        self.metadataProvider = metadataProvider
        self.locationLevel = locationLevel
    }

    /// The value of a key in ``metadata``.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Passes what LaunchGuard itself says to swift-log: the closure for
    /// `Session.Configuration.onLog`.
    ///
    /// A ``LaunchGuardLogHandler`` that the logger writes to leaves these messages out, as the ring
    /// log has them already.
    ///
    /// - Parameter logger: asked for at each message. So the messages of the start, which come
    ///   before the program can bootstrap swift-log with its session, go where swift-log writes
    ///   without that: to standard error.
    public static func forward(
        to logger: @escaping @autoclosure @Sendable () -> Logger = Logger(label: "launchguard")
    ) -> @Sendable (LogLevel, String, String) -> Void {
        { level, _, text in logger().log(level: Logger.Level(level), "\(text)", source: "LaunchGuard", file: ownFile) }
    }

    /// No program has a file of this name.
    private static let ownFile = #fileID

    /// Write a breadcrumb. swift-log calls it.
    public func log(event: LogEvent) {
        if event.file == Self.ownFile { return }
        var fields = Fields()
        for (key, value) in merged(event) { fields.add(value, key) }
        fields.pairs.sort { $0.0 < $1.0 }
        if let locationLevel, event.level >= locationLevel {
            fields.pairs.append(("file", event.file))
            fields.pairs.append(("line", "\(event.line)"))
        }
        session.log(LogLevel(event.level), event.message.description, category: label, fields: .init(fields.pairs))
    }

    /// Metadata of the call override those of the provider, and these override those of the
    /// handler.
    private func merged(_ event: LogEvent) -> Logger.Metadata {
        var all = metadata
        if let provided = metadataProvider?.get(), !provided.isEmpty { all.merge(provided) { _, new in new } }
        if let error = event.error {
            all["error.message"] = "\(error)"
            all["error.type"] = "\(String(reflecting: type(of: error)))"
        }
        if let given = event.metadata, !given.isEmpty { all.merge(given) { _, new in new } }
        return all
    }
}

/// Metadata as keys and texts.
private struct Fields {
    var pairs: [(String, String)] = []

    mutating func add(_ value: Logger.Metadata.Value, _ key: String) {
        switch value {
        case .string(let text): pairs.append((key, text))
        case .stringConvertible(let value): pairs.append((key, value.description))
        case .array(let values): pairs.append((key, "[" + values.map(Self.text).joined(separator: ", ") + "]"))
        case .dictionary(let values):
            for (inner, value) in values { add(value, "\(key).\(inner)") }
        }
    }

    /// A value within an array.
    private static func text(_ value: Logger.Metadata.Value) -> String {
        switch value {
        case .string(let text): text
        case .stringConvertible(let value): value.description
        case .array(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        case .dictionary(let values):
            "[" + values.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ") + "]"
        }
    }
}

extension LogLevel {
    /// The level of the same name.
    public init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}

extension Logger.Level {
    /// The level of the same name.
    public init(_ level: LogLevel) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}
#endif
