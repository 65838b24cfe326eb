import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardReportModel
import Testing
import TestSupport

/// Every guarded operation of containers, numbers and strings.
@Suite struct OperationsTests {
    @Test(arguments: Fault.allCases)
    func aFaultEndsAProgramWithoutGuards(_ fault: Fault) async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [fault = fault as Fault, directory = scene.directory as String] in
            let child = Child(directory)
            _ = try child.start()
            child.note(fault.meet())
        }
        #expect(scene.journal == [])
        #expect(try scene.lastRun()?.verdict?.end == .crash)
    }

    @Test(arguments: Fault.allCases)
    func aFaultIsSurvivedAndToldUntilTheStop(_ fault: Fault) async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [fault = fault as Fault, directory = scene.directory as String] in
            let child = Child(directory), told = Told()
            let guards = try child.startGuards(.survive, onEvent: told.add)
            child.note(fault.meet())
            let event = try await told.wait(for: 1)[0]
            #expect(event.guardClass == fault.guardClass && event.action == .survived && event.count == 1)
            #expect(event.site != 0 && event.frames.first == event.site, "\(event.site) \(event.frames)")
            #expect(event.threadID > 0 && event.time > .zero && !event.text.isEmpty)
            child.note("survived")
            guards.stop()
            child.note(fault.meet())
        }
        #expect(scene.journal == [fault.neutral, "survived"])
        #expect(try scene.guardLog().isEmpty == false)
        #expect(try scene.lastRun()?.verdict?.end == .crash)
    }

    @Test(arguments: [Fault.element, .sum, .offset])
    func aReportedFaultIsLeftAsItWas(_ fault: Fault) async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(trap)) { [fault = fault as Fault, directory = scene.directory as String] in
            let child = Child(directory)
            _ = try child.startGuards(.report)
            child.note(fault.meet())
        }
        #expect(scene.journal == [])
        #expect(try scene.guardLog().count == 1)
    }

    @Test(arguments: [Fault.element, .sum, .offset])
    func aFatalFaultEndsTheProgramAtOnce(_ fault: Fault) async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(SIGABRT)) { [fault = fault as Fault, directory = scene.directory as String] in
            let child = Child(directory)
            _ = try child.startGuards(.fatal)
            child.note(fault.meet())
        }
        #expect(scene.journal == [])
        #expect(try scene.guardLog().count == 1)
        #expect(try scene.lastRun()?.verdict?.end == .crash)
    }

    /// Bugs that guards do not guard against.
    enum OtherBug: String, CaseIterable, Codable, Sendable {
        case element, key, sum, index, forcedUnwrap

        func meet() {
            let numbers = opaque([1, 2, 3])
            switch self {
            case .element: print(numbers[opaque(3)])
            case .key: print(opaque(["a": 1])["b"]!)
            case .sum: print(opaque(Int8.max) + 1)
            case .index: print("äöü"[opaque("a longer text").endIndex])
            case .forcedUnwrap: print(opaque(nil as Int?)!)
            }
        }
    }

    @Test(arguments: OtherBug.allCases)
    func operationsThatAreNotGuardedCrashAsBefore(_ bug: OtherBug) async throws {
        for isGuarded in [false, true] {
            let scene = try TestDirectory()
            await #expect(processExitsWith: .signal(trap)) {
                [bug = bug as OtherBug, isGuarded = isGuarded as Bool, directory = scene.directory as String] in
                let child = Child(directory)
                if isGuarded { _ = try child.startGuards(.survive) } else { _ = try child.start() }
                if isGuarded { child.note(Fault.element.meet()) }
                bug.meet()
            }
            let run = try #require(try scene.lastRun())
            #expect(run.verdict?.end == .crash && run.crash?.signal.number == trap)
            #expect(scene.journal == (isGuarded ? ["nil"] : []))
        }
    }

    @Test func withoutAFaultContainersAreThoseOfTheLibrary() {
        var numbers = opaque([1, 2, 3])
        #expect(numbers[guarded: 0] == 1)
        #expect(numbers[guarded: 2] == 3)
        #expect(numbers[1...][guarded: 1] == 2)
        numbers[guarded: 2] = 4
        numbers[guarded: 0]? += 1
        #expect(numbers == [2, 2, 4])
        #expect(numbers[clamped: 1...] == [2, 4])
        #expect(numbers[clamped: ..<1] == [2])
        #expect(numbers[clamped: 0...1] == [2, 2])
        #expect(numbers[clamped: 3...].isEmpty)
        let isInserted = numbers.insertGuarded(5, at: 3), removed = numbers.removeGuarded(at: 0), popped = numbers.popGuarded()
        #expect(isInserted && removed == 2 && popped == 5 && numbers == [2, 4])
        #expect(opaque(["a": 1])[guarded: "a"] == 1)
        #expect(Dictionary(guardedUniqueKeysWithValues: [("a", 1), ("b", 2)]) == ["a": 1, "b": 2])
    }

    @Test func withoutAFaultNumbersAndStringsAreThoseOfTheLibrary() {
        let sum = opaque(5).adding(guarded: 3), mixed = opaque(5).subtracting(guarded: opaque(3).multiplied(guarded: 2))
        let quotient = opaque(-5).divided(guarded: 3), remainder = opaque(-5).remainder(guarded: 3)
        #expect([sum, mixed, quotient, remainder] == [8, -1, -1, -2])
        #expect(opaque("äöü")[guarded: 1] == "ö")
        #expect(opaque("äöü")[guarded: 1...] == "öü")
        #expect(opaque("äöü")[guarded: ...1] == "äö")
        #expect(opaque("äöü")[guarded: 3..<3] == "")
        #expect(String(guardedUTF8: opaque(Array("ä".utf8))) == "ä")
        let text = unsafe String(guarded: "ä")
        #expect(text == "ä")
    }

    /// The fault begins exactly where that of the library's initializer does.
    @Test func aNumberFitsWhereTheLibraryTakesIt() {
        func check<Number: FixedWidthInteger>(_: Number.Type) {
            let near: [Double] = [Double(Number.min), Double(Number.max), 0]
            let edges: [Double] = near.flatMap { (edge: Double) -> [Double] in
                [edge - 1, edge - 0.5, edge.nextDown, edge, edge.nextUp, edge + 0.5, edge + 1]
            }
            for edge in edges {
                let cut = edge.rounded(.towardZero)
                if let exact = Number(exactly: cut) { #expect(Number(guarded: opaque(edge)) == exact, "\(edge)") }
            }
        }
        check(Int8.self)
        check(UInt8.self)
        check(Int32.self)
        check(UInt32.self)
        check(Int64.self)
        check(UInt64.self)
        check(Int128.self)
    }

    /// There is nothing to guard: a shift of Swift does not trap.
    @Test func shiftsDoNotTrap() {
        let shifted = [opaque(1) << 100, opaque(-1) >> 100, opaque(2) << -1, opaque(1) << Int.min]
        #expect(shifted == [0, -1, 1, 0])
    }

    /// A limit: what is stored outside is lost, and `nil` is never stored.
    @Test func whatIsStoredOutsideIsLost() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            _ = try Child(directory).startGuards(.survive)
            var maybe: [Int?] = [1, 2]
            maybe[guarded: opaque(5)] = 3
            maybe[guarded: opaque(0)] = nil
            #expect(maybe == [1, 2])
            maybe[guarded: opaque(0)] = .some(nil)
            #expect(maybe == [nil, 2])
        }
    }

    /// A limit: of several changes in place, one site is known, that of the accessor.
    @Test func changesInPlaceOfOneTypeAreOneSite() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let told = Told()
            let guards = try Child(directory).startGuards(.survive, onEvent: told.add)
            var numbers = [1, 2]
            numbers[guarded: opaque(5)]? += 1
            numbers[guarded: opaque(6)]? += 1
            numbers[guarded: opaque(7)] = 1
            guards.stop()
            try await waitUntil("all faults are told") { Set(told.all.map(\.site)).count >= 2 && told.all.map { $0.skipped + 1 }.reduce(0, +) == 3 }
            #expect(Set(told.all.map(\.site)).count == 2)
        }
    }
}
