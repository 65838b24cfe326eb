internal import LaunchGuardReportModel

/// What the file of one run says: how the run ended, where, and what the program said before.
///
/// ```swift
/// for path in try RunReport.paths(in: stateDirectory) {
///     let report = try RunReport(path: path)
///     print(report.headline, report.stack?.frames ?? [])
/// }
/// ```
///
/// The file may be of a dead or a living process, and of another machine. No byte of it is trusted:
/// what is damaged, cut short or was never written is `nil` or empty here, and ``problems`` says
/// why. The properties are what most programs ask for; ``json`` has all that the file holds.
public struct RunReport: Hashable, Sendable {
    let contents: LaunchGuardReportModel.RunReport

    /// Read a run file. The process that writes it is not disturbed, and a link is not followed.
    public init(path: String) throws(Failure) {
        do throws(ReportError) {
            contents = try Reader(path: path).run()
        } catch {
            throw Failure(error)
        }
    }

    /// The run files of a state directory, oldest first; none where there is no directory.
    public static func paths(in stateDirectory: String) throws(Failure) -> [String] {
        do throws(ReportError) {
            return try StateDirectory(path: stateDirectory).runPaths()
        } catch {
            throw Failure(error)
        }
    }

    // MARK: - The run

    /// The file.
    public var path: String { contents.path }
    /// Identity of the run, in all reports of it.
    public var uuid: String? { contents.identity?.uuid }
    /// Number of the run in its state directory, from 1.
    public var ordinal: UInt64? { contents.identity?.ordinal }
    /// Name of the application, for example "org.example.player".
    public var appID: String? { contents.identity?.appID }
    /// Version of the application.
    public var appVersion: String? { contents.identity?.appVersion }
    /// Path of the executable.
    public var executable: String? { contents.identity?.executable }
    /// The process.
    public var processID: Int32? { contents.identity?.processID }
    /// The begin of the run.
    public var started: Time? { contents.identity?.started.map(Time.init) }
    /// The end of the run, as far as the file shows it.
    public var ended: Time? { contents.verdict?.monotonicNanoseconds.flatMap(contents.time).map(Time.init) }
    /// The length of the run, as far as its end is known.
    public var duration: Duration? { contents.durationNanoseconds.map { .nanoseconds($0) } }
    /// The launches that the program began in the run.
    public var launches: [Launch] { (contents.contexts ?? []).map(Launch.init) }

    // MARK: - Its end

    /// How the run ended; `nil` where the file does not show it.
    public var end: End? { contents.verdict.flatMap { End(rawValue: $0.end.rawValue) } }
    /// The cause in one sentence.
    public var headline: String { contents.headline }
    /// The evidence for ``end``, a sentence whose subject is the run.
    public var evidence: String? { contents.verdict?.evidence }
    /// Kind of a crash, for example "fault.null_write" or "trap.swift.overflow".
    public var kind: String? { contents.fatalCrash?.finestKind ?? contents.verdict?.kind }
    /// Signal of a crash, a termination or a kill.
    public var signal: Signal? { contents.verdict?.signal.map(Signal.init) }
    /// The status that the program gave to `exit()`.
    public var exitCode: Int32? { contents.verdict?.exitCode }
    /// The address whose access was the fault.
    public var faultAddress: UInt64? { contents.fatalCrash?.address?.value }
    /// Innermost function of the program itself in the stack of a crash or a hang, for example
    /// "in Notes.open()"; a module and an offset where functions have no names.
    public var place: String? { contents.place }
    /// What was said before the end, in one line: by libc, by the Swift runtime, as the text of a
    /// C++ exception, or on standard error.
    public var message: String? { contents.said }
    /// The same for equal ends of one build of a program, in hexadecimal digits.
    public var fingerprint: String? { contents.fingerprint }
    /// The same for equal ends over builds of a program, by names; ``fingerprint`` where functions
    /// have no names.
    public var bugKey: String? { contents.bugKey(coarse: contents.fingerprint) }

    // MARK: - Stacks

    /// The stack that the run ended by, of a crash or a hang.
    public var stack: Stack? { (contents.fatalCrash?.stack ?? contents.hang?.threads?.first?.stack).map(Stack.init) }
    /// The threads of a crash or a hang, the one that crashed or hung first.
    public var threads: [Thread] {
        guard let crash = contents.fatalCrash else { return (contents.hang?.threads ?? []).map(Thread.init) }
        let others = (contents.recordedCrash?.threads ?? []).filter { $0.threadID != crash.threadID }
        return [Thread(id: crash.threadID, name: crash.threadName, stack: crash.stack.map(Stack.init))] + others.map(Thread.init)
    }
    /// The executable first, then the libraries.
    public var modules: [Module] { (contents.modules ?? []).map(Module.init) }

    // MARK: - What the program said

    /// The breadcrumbs that the ring log still has, oldest first.
    public var log: [Breadcrumb] { (contents.breadcrumbs?.entries ?? []).map(Breadcrumb.init) }
    /// A sentence for each reason for which breadcrumbs are missing.
    public var logLosses: [String] { (contents.breadcrumbs.map { [$0.overwritten].compactMap(\.self) + $0.losses }) ?? [] }
    /// The values that the program named, by key.
    public var annotations: [Annotation] { (contents.annotations ?? []).map(Annotation.init) }
    /// The last words on standard error, where the program kept them.
    public var standardError: String? { contents.standardError?.text }

    // MARK: - The file

    /// Whether the process of the run lives.
    public var isAlive: Bool { contents.identity?.isAlive ?? false }
    /// Whether guards survived faults in the run.
    public var isDegraded: Bool { contents.isDegraded }
    /// Whether any part of the file is damaged.
    public var isDamaged: Bool { contents.isDamaged }
    /// The parts that are missing, and why.
    public var problems: [Problem] { contents.problems.map(Problem.init) }
}

/// The JSON of the tool: a line of `launchguard inspect --json` becomes a report with the names of
/// functions, which a run file has not.
extension RunReport: Codable {
    /// A report from JSON.
    public init(from decoder: any Decoder) throws {
        contents = try .init(from: decoder)
    }

    /// The report as ``json``.
    public func encode(to encoder: any Encoder) throws {
        try contents.encode(to: encoder)
    }
}
