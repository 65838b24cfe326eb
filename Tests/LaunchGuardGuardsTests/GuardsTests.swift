import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardReportModel
import Testing
import TestSupport

/// The switchboard.
@Suite struct GuardsTests {
    @Test func theUsualClassesAreAllButTwo() {
        #expect(Set<GuardClass>.usual == Set<GuardClass>.all.subtracting([.nullCall, .arithmetic]))
    }

    @Test func aDebugBuildEndsAtTheFirstFault() async throws {
        let scene = try TestDirectory()
        #if DEBUG
        let end = ExitTest.Condition.signal(SIGABRT)
        #else
        let end = ExitTest.Condition.success
        #endif
        await #expect(processExitsWith: end) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            try session.guards.start()
            _ = Fault.element.meet()
        }
        #expect(try scene.guardLog() == ["index 3 of Array<Int> with 3 elements"])
    }

    @Test func classesAreChangedLive() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory), session = try child.start(), guards = session.guards
            #expect(!guards.isWorking && guards.classes.isEmpty)
            #expect(throws: LaunchGuardError.self) { try guards.setClasses(.all) }
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            try guards.start(configuration)
            #expect(guards.isWorking && guards.classes == .usual && guards.isWorking(.container) && !guards.isWorking(.nullCall))
            try guards.setClasses([])
            #expect(!guards.isWorking)
            try guards.setClasses([.container])
            #expect(guards.classes == [.container])
            child.note(Fault.element.meet())
            child.note(Fault.sum.meet())
        }
        #expect(scene.journal == ["nil"])
    }

    @Test func aPolicyIsChangedLive() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(SIGABRT)) { [directory = scene.directory as String] in
            let child = Child(directory), guards = try child.startGuards(.fatal)
            try guards.setPolicy(.survive, for: [.container])
            child.note(Fault.element.meet())
            child.note(Fault.sum.meet())
        }
        #expect(scene.journal == ["nil"])
    }

    @Test func aSpentBudgetLeavesTheFaultAsItWas() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory)
            _ = try child.startGuards(.survive, budget: 3)
            for _ in 1...5 { child.note(Fault.element.meet()) }
        }
        // A minute may begin in between.
        #expect(scene.journal.count >= 3 && scene.journal.allSatisfy { $0 == "nil" })
    }

    /// Starts that are refused, and change nothing.
    enum Mistake: String, CaseIterable, Codable, Sendable {
        case noClass, noBudget, negativeBudget, hugeBudget

        func make(in configuration: inout Guards.Configuration) {
            switch self {
            case .noClass: configuration.classes = []
            case .noBudget: configuration.budget = 0
            case .negativeBudget: configuration.budget = -1
            case .hugeBudget: configuration.budget = 1_000_001
            }
        }
    }

    @Test func aMistakeInTheCallIsThrown() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let guards = try Child(directory).start().guards
            for mistake in Mistake.allCases {
                var configuration = Guards.Configuration()
                mistake.make(in: &configuration)
                let error = #expect(throws: LaunchGuardError.self) { try guards.start(configuration) }
                #expect(error?.code == .option, "\(mistake)")
                #expect(!guards.isWorking)
            }
            try guards.start()
            let again = #expect(throws: LaunchGuardError.self) { try guards.start() }
            #expect(again?.code == .already)
            for name in ["", "a/b", "a\0b"] {
                let error = #expect(throws: LaunchGuardError.self) { try guards.setModules(denied: [name]) }
                #expect(error?.code == .option, "\(name)")
            }
            let error = #expect(throws: LaunchGuardError.self) { try guards.setModules(allowed: Array(repeating: "libm.so.6", count: 257)) }
            #expect(error?.code == .limit)
        }
    }

    @Test func aModuleIsDenied() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory), guards = try child.startGuards(.survive)
            try guards.setModules(denied: ["libno-such-module.so"])
            child.note(Fault.element.meet())
            try guards.setModules(denied: [moduleName()])
            child.note(Fault.element.meet())
        }
        #expect(scene.journal == ["nil"])
    }

    // MARK: Types

    class Track {}
    final class LiveTrack: Track {}
    struct Chapter {}
    protocol Playable {}
    struct Song: Playable {}

    static func isSurvived<Element>(_ element: Element) -> String { "\(opaque([element])[guarded: 1] == nil)" }

    @Test func aTypeIsDeniedWithItsSubclasses() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory), guards = try child.startGuards(.survive)
            guards.deny(Track.self)
            child.note(Self.isSurvived(Chapter()))
            guards.forgetTypes()
            child.note(Self.isSurvived(LiveTrack()))
            guards.allow(LiveTrack.self)
            guards.deny(Track.self)
            child.note(Self.isSurvived(LiveTrack()))
        }
        #expect(scene.journal == ["true", "true"])
    }

    @Test func withAnAllowedTypeNoOtherIsGuarded() async throws {
        for isChapter in [false, true] {
            let scene = try TestDirectory()
            await #expect(processExitsWith: .signal(trap)) { [isChapter = isChapter as Bool, directory = scene.directory as String] in
                let child = Child(directory), guards = try child.startGuards(.survive)
                guards.allow(Track.self)
                guards.allow([Chapter].self)
                child.note(Self.isSurvived(Track()))
                child.note(Self.isSurvived(LiveTrack()))
                child.note(Self.isSurvived(Chapter()))
                child.note(isChapter ? Self.isSurvived(1) : Fault.sum.meet())
            }
            #expect(scene.journal == ["true", "true", "true"])
        }
    }

    /// A limit: a protocol is no type of the lists.
    @Test func aProtocolAllowsNothing() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory), guards = try child.startGuards(.survive)
            guards.deny((any Playable).self)
            child.note(Self.isSurvived(Song()))
            guards.allow((any Playable).self)
            child.note(Self.isSurvived(Song()))
        }
        #expect(scene.journal == ["true"])
    }

    // MARK: Events

    @Test func anEventSaysWhatHappened() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let told = Told()
            let guards = try Child(directory).startGuards(.survive, onEvent: told.add)
            for _ in 1...5 { _ = opaque([1, 2, 3])[guarded: opaque(7)] }
            guards.stop()
            try await waitUntil("all faults are told") { told.all.last?.count == 5 }
            let events = told.all
            #expect(events[0].text == "index 7 of Array<Int> with 3 elements")
            #expect(events[0].fields.map { "\($0.key) \($0.value)" } == ["index 7", "count 3", "type Array<Int>"])
            #expect(Set(events.map(\.site)).count == 1 && events.map { $0.skipped + 1 }.reduce(0, +) == 5)
            #expect(events.allSatisfy { $0.action == .survived && $0.dropped == 0 && !$0.threadName.isEmpty })
        }
        let entry = try #require(try scene.lastRun()?.breadcrumbs?.entries.first { $0.category == "guard" })
        #expect(entry.level == .warning && entry.fields?.map(\.key) == ["index", "count", "type"])
    }

    /// Two uses in one function are two sites.
    @Test func eachUseIsASite() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let told = Told()
            _ = try Child(directory).startGuards(.survive, onEvent: told.add)
            let numbers = opaque([1, 2, 3])
            _ = numbers[guarded: opaque(7)]
            _ = numbers[guarded: opaque(7)]
            _ = opaque(Int.max).adding(guarded: opaque(1))
            _ = opaque(Int.max).adding(guarded: opaque(1))
            let events = try await told.wait(for: 4)
            #expect(Set(events.map(\.site)).count == 4 && events.allSatisfy { $0.count == 1 })
        }
    }

    @Test func everyIterationGetsTheEventsFromItsStartOn() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let guards = try Child(directory).startGuards(.survive)
            var one = guards.events.makeAsyncIterator(), other = guards.events.makeAsyncIterator()
            _ = Fault.element.meet()
            #expect(await one.next()?.guardClass == .container)
            #expect(await other.next()?.guardClass == .container)
            _ = Fault.quotientOfLeast.meet()
            #expect(await one.next()?.guardClass == .arithmetic)
            guards.stop()
            #expect(await one.next() == nil)
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            var third = guards.events.makeAsyncIterator()
            try guards.start(configuration)
            _ = Fault.element.meet()
            #expect(await third.next()?.guardClass == .container)
            let waiting = Task { [events = guards.events] in
                for await _ in events {}
                return true
            }
            waiting.cancel()
            #expect(await waiting.value)
        }
    }

    @Test func eventsFasterThanTheirReaderAreCounted() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let told = Told()
            let guards = try Child(directory).startGuards(.survive, onEvent: told.add)
            _ = Fault.element.meet()
            let event = try #require(try await told.wait(for: 1).first)
            var slow = guards.events.makeAsyncIterator()
            for _ in 1...300 { GuardTeller.tell(event, of: 0) }
            for _ in 1...256 { #expect(await slow.next()?.dropped == 0) }
            GuardTeller.tell(event, of: 0)
            #expect(await slow.next()?.dropped == 44)
        }
    }

    /// That of the guards, and that of the session.
    @Test(arguments: [true, false])
    func iterationsEndWithTheStop(ofGuards: Bool) async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String, ofGuards] in
            let child = Child(directory), session = try child.start()
            try session.guards.start()
            var iteration = session.guards.events.makeAsyncIterator()
            if ofGuards { session.guards.stop() } else { session.stop() }
            #expect(await iteration.next() == nil)
        }
    }

    /// The closure is called on a thread of LaunchGuard, and may stop the guards.
    @Test func guardsAreStoppedInTheirClosure() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory), session = try child.start()
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            configuration.onEvent = { _ in session.guards.stop() }
            try session.guards.start(configuration)
            child.note(Fault.element.meet())
            try await waitUntil("the guards stop") { !session.guards.isWorking }
            child.note(Fault.element.meet())
        }
        #expect(scene.journal == ["nil"])
    }

    @Test func aClosureThatCrashesIsACrashOfTheProgram() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            _ = try Child(directory).startGuards(.survive) { _ in print(opaque([1])[opaque(1)]) }
            _ = Fault.element.meet()
            try await stayUntilCancelled()
        }
        #expect(try scene.lastRun()?.verdict?.end == .crash)
    }

    @Test func aClosureOfAnEarlierStartIsNotCalled() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory), first = Told(), second = Told()
            let guards = try child.startGuards(.survive, onEvent: first.add)
            guards.stop()
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            configuration.onEvent = second.add
            try guards.start(configuration)
            _ = Fault.element.meet()
            _ = try await second.wait(for: 1)
            #expect(first.all.isEmpty)
        }
    }

    /// Typed guards need no files.
    @Test func aSessionWithoutFilesHasGuards() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try Session.start(appID: "org.example.tests", stateDirectory: "/dev/null/state")
            child.note("started")
            #expect(session.protection == .unprotected)
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            try session.guards.start(configuration)
            #expect(session.guards.problem?.code == .unprotected)
            #expect(session.guards.isWorking(.container) && !session.guards.isWorking(.memory))
            child.note(Fault.element.meet())
            session.guards.stop()
            child.note(Fault.element.meet())
        }
        #expect(scene.journal == ["started", "nil"])
    }
}

/// File name of the module that this code is in.
private func moduleName() -> String {
    var path = [CChar](repeating: 0, count: 4096)
    let size = unsafe readlink("/proc/self/exe", &path, path.count - 1)
    let whole = String(decoding: path.prefix(max(size, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(whole.split(separator: "/").last ?? "")
}
