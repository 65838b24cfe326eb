import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing

/// The values of the API are values: a program makes them, copies them, and writes them down.
@Suite struct ValueTests {
    private static func written<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test func reportsAndInfosCanBeMadeAndWrittenDown() throws {
        let report = Report(path: "/runs/1.lgrun", uuid: "u", ordinal: 7, end: .crash, signal: 11, isInLaunch: false)
        #expect(try Self.written(report) == report)
        let info = LaunchInfo(name: "main", status: .awaitingRepair, streak: 3, lastTask: "open", window: nil, finish: .mark)
        #expect(try Self.written(info) == info)
        #expect(info.repairAfter == 2 && info.window == nil && info.finish == .mark)
        let memory = Session.Memory(usedBytes: 90, limitBytes: 100, percent: 90, isOfCgroup: true)
        #expect(try Self.written(memory) == memory)
        let instant = WallInstant(sinceEpoch: .seconds(1_790_000_000) + .nanoseconds(7))
        #expect(try Self.written(instant) == instant)
        #expect(instant < instant.advanced(by: .nanoseconds(1)) && instant.duration(to: instant.advanced(by: .seconds(3))) == .seconds(3))
    }

    @Test func optionsAreComparedByValue() {
        #expect(Launch.Configuration.SafeMode(retryRuns: 3) != Launch.Configuration.SafeMode())
        #expect(Set([Session.RecordOptions(), Session.RecordOptions(), .init(threadLimit: 1)]).count == 2)
        #expect(Session.HangThresholds(running: .seconds(3)) != Session.HangThresholds())
    }

    @Test func fieldsComeFromDictionariesAndLeaveOutWhatIsNil() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let user: String? = nil
            session.log(.info, "literal", fields: ["url": "/notes", "user": user])
            session.log(.info, "dictionary", fields: .init(["z": "1", "a": "2"] as [String: String]))
            session.log(.info, "optional", fields: .init([("z", user), ("a", "2")]))
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        let fields = entries.map { ($0.fields ?? []).map { "\($0.key)=\($0.value ?? "?")" } }
        #expect(fields == [["url=/notes"], ["a=2", "z=1"], ["a=2"]])
    }

    @Test func copiesOfAnInterpolationDoNotShareABuffer() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            var first = LogMessage.StringInterpolation(literalCapacity: 64, interpolationCount: 0)
            first.appendLiteral("value ")
            var second = first
            first.appendInterpolation(1)
            second.appendInterpolation("two")
            first.appendLiteral("!")
            let session = try Child(directory).start()
            session.log(.info, LogMessage(stringInterpolation: first))
            session.log(.info, LogMessage(stringInterpolation: second))
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        #expect(entries.map(\.text) == ["value 1!", "value two"])
    }
}
