import LaunchGuardGuards
import Testing

@Suite struct GuardsTests {
    @Test func theUsualClassesAreAllButOne() {
        #expect(Set<GuardClass>.usual.count == GuardClass.allCases.count - 1)
    }
}
