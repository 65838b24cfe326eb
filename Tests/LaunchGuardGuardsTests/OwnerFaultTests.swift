import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardReportModel
import Testing

/// Every fault of a type with an owner, with and without its guard.
@Suite struct OwnerFaultTests {
    @Test(arguments: OwnerFault.allCases)
    func endsAProgramThatIsNotGuarded(fault: OwnerFault) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(fault.signal)) { [fault = fault as OwnerFault, scene = scene as Scene] in
            _ = try scene.start()
            fault.commit()
        }
        #expect(try scene.told().isEmpty)
        #expect(try scene.report().verdict?.end == .crash)
    }

    @Test(arguments: OwnerFault.allCases)
    func isSurvivedAndTold(fault: OwnerFault) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [fault = fault as OwnerFault, scene = scene as Scene] in
            _ = try scene.startGuarded()
            fault.commit()
        }
        #expect(try scene.told() == [fault.told])
        #expect(try scene.report().verdict?.end == .clean)
    }

    @Test(arguments: OwnerFault.allCases)
    func endsTheProgramAgainAfterTheStop(fault: OwnerFault) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(fault.signal)) { [fault = fault as OwnerFault, scene = scene as Scene] in
            let session = try scene.startGuarded()
            fault.commit()
            session.log(.info, "survived")
            session.guards.stop()
            fault.commit()
        }
        #expect(try scene.told() == [fault.told])
        #expect(try scene.report().breadcrumbs?.entries.contains { $0.text == "survived" } == true)
        #expect(try scene.report().verdict?.end == .crash)
    }

    @Test(arguments: OwnerFault.allCases)
    func leavesOtherCrashesAsTheyAre(fault: OwnerFault) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGSEGV)) { [fault = fault as OwnerFault, scene = scene as Scene] in
            _ = try scene.startGuarded()
            fault.commit()
            dieOfAnotherBug()
        }
        #expect(try scene.told() == [fault.told])
        let crash = try #require(try scene.report().crash)
        #expect(crash.signal.number == SIGSEGV && crash.address == Address(0x10))
    }

    @Test(arguments: OwnerFault.allCases)
    func goesOnWhereTheGuardOnlyReports(fault: OwnerFault) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(fault.signal)) { [fault = fault as OwnerFault, scene = scene as Scene] in
            _ = try scene.startGuarded(.report)
            fault.commit()
        }
        #expect(try scene.told() == [fault.told])
    }

    @Test(arguments: OwnerFault.allCases)
    func endsTheProgramWhereThePolicySaysSo(fault: OwnerFault) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGABRT)) { [fault = fault as OwnerFault, scene = scene as Scene] in
            _ = try scene.startGuarded(.fatal)
            fault.commit()
        }
        #expect(try scene.told() == [fault.told])
    }
}
