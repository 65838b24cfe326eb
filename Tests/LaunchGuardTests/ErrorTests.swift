@testable import LaunchGuard
import Testing

/// The error type against the C status table.
@Suite struct ErrorTests {
    @Test(arguments: [
        (LaunchGuardError.Code.argument, "argument"), (.option, "option"), (.system, "system"), (.noDirectory, "no-directory"),
        (.notDirectory, "not-directory"), (.link, "link"), (.owner, "owner"), (.permission, "permission"),
        (.readOnly, "read-only"), (.noSpace, "no-space"), (.damaged, "damaged"), (.newer, "newer"), (.secondary, "secondary"),
        (.already, "already"), (.closed, "closed"), (.forked, "forked"), (.disabled, "disabled"), (.notFound, "not-found"),
        (.limit, "limit"), (.state, "state"), (.duplicate, "duplicate"), (.unprotected, "unprotected"), (.timeout, "timeout"),
        (.failed, "failed"), (.incomplete, "incomplete"), (.restart, "restart"), (.interrupted, "interrupted"),
        (.cancelled, "cancelled"), (.unsupported, "unsupported"), (.noAgent, "no-agent"),
    ])
    func everyCodeHasItsNameAndMessage(_ code: LaunchGuardError.Code, _ name: String) {
        #expect(code.description == name)
        #expect(!code.message.isEmpty)
    }

    @Test func theTableHasNoOtherCodes() {
        #expect(LaunchGuardError.Code(rawValue: 32).description == "unknown")
    }

    @Test func anErrorSaysWhatIsWrong() {
        let error = LaunchGuardError(.system, errno: 28)
        #expect(error.description == "system: a system call failed; errno says why (errno 28)")
        #expect(LaunchGuardError(.option, "ringBytes is 0").description == "option: ringBytes is 0")
    }

    @Test func theEssentialTaskThatFailedIsNamedWithWhatItThrew() async throws {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        launch.addTask("light") { throw Failure(description: "no matter") }
        launch.addTask("database", options: .essential) { throw Failure(description: "no disk") }
        for _ in 1...2 {
            let error = await #expect(throws: LaunchGuardError.self) { try await launch.begin().get() }
            #expect(error?.code == .failed)
            #expect(error?.failedTask == "database")
            #expect((error?.underlying as? Failure)?.description == "no disk")
            let again = await #expect(throws: LaunchGuardError.self) { try await launch.waitUntilLaunched().get() }
            #expect(again == error)
            #expect((again?.underlying as? Failure)?.description == "no disk")
            simulation.end(.clean)
        }
        #expect(LaunchGuardError(.failed) != LaunchGuardError(.failed, TaskFailure(key: "a", error: Failure(description: ""), message: "")))
    }

    /// Each number of a launch just outside of its range, and what the message says.
    static let ranges: [(Launch.Configuration, String)] = [
        (.init(steadyAfter: .zero), "steadyAfter in ms is 0; it must be between 1 and 9223372036854"),
        (.init(heartbeat: .seconds(86_401)), "heartbeat in ms is 86401000; it must be between 1 and 86400000"),
        (.init(holdDeadline: .zero), "holdDeadline in ms is 0; it must be between 1 and 86400000"),
        (.init(safeMode: .init(retryRuns: 9)), "safeMode.retryRuns is 9; it must be between 1 and 8"),
        (.init(safeMode: .init(crashLimit: 0)), "safeMode.crashLimit is 0; it must be between 1 and 4294967295"),
        (.init(deescalation: .init(runs: 1 << 32)), "deescalation.runs is 4294967296; it must be between 1 and 4294967295"),
        (.init(deescalation: .init(time: .seconds(-1))), "deescalation.time in ms is -1000; it must be between 1 and 9223372036854"),
    ]

    @Test(arguments: ranges)
    func aMessageNamesTheValueAndTheRange(_ configuration: Launch.Configuration, _ message: String) throws {
        let launch = try Simulation().session.launch("main", configuration)
        #expect(launch.problem?.description == "option: \(message)")
    }

    /// The bounds of numbers in this module are those of the core.
    @Test func theRangesAreThoseOfTheCore() throws {
        let session = try Simulation().session
        let bounds: [Launch.Configuration] = [
            .init(steadyAfter: .milliseconds(1), heartbeat: .milliseconds(1), holdDeadline: .milliseconds(1)),
            .init(steadyAfter: .milliseconds(9_223_372_036_854), heartbeat: .seconds(86_400), holdDeadline: .seconds(86_400)),
            .init(safeMode: .init(retryRuns: 1, crashLimit: 1), deescalation: .init(runs: 1, time: .milliseconds(1))),
            .init(
                safeMode: .init(retryRuns: 8, crashLimit: 4_294_967_295),
                deescalation: .init(runs: 4_294_967_295, time: .milliseconds(9_223_372_036_854))),
        ]
        for (number, configuration) in bounds.enumerated() {
            #expect(session.launch("launch \(number)", configuration).problem == nil)
        }
    }

    @Test func aRefusedRepairOrTaskSaysWhy() throws {
        let session = try Simulation().session
        func problem(_ add: (Launch) -> Void, line: Int = #line) -> String? {
            let launch = session.launch("\(line)")
            add(launch)
            return launch.problem?.message
        }
        #expect(problem { $0.addRepair("mend", impact: 101) {} } == "repair \"mend\": impact is 101; it must be between 0 and 100")
        #expect(problem { $0.addRepair("mend", impact: 1, attempts: 101) {} } == "repair \"mend\": attempts is 101; it must be between 1 and 100")
        #expect(problem { $0.addRepair("", impact: 1) {} } == "repair \"\": name has 0 bytes; it must have between 1 and 63")
        #expect(problem { $0.addTask("") {} } == "task \"\": key has 0 bytes; it must have between 1 and 63")
        #expect(problem { $0.addTask("open", options: [.essential, .unsafe]) {} }?.hasPrefix("task \"open\": options are 5; ") == true)
    }

    static let durations: [(Duration, Int64)] = [
        (.zero, 0), (.seconds(5), 5000), (.milliseconds(1500), 1500), (.nanoseconds(1), 1), (.microseconds(1001), 2),
        (.nanoseconds(-1), -1), (.milliseconds(-1500), -1500), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
    ]

    @Test(arguments: durations)
    func aDurationInMilliseconds(_ duration: Duration, _ milliseconds: Int64) {
        #expect(duration.milliseconds == milliseconds)
    }
}
