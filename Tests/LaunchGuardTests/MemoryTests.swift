import Foundation
import LaunchGuard
import LaunchGuardReports
import Testing

/// Warnings of memory that runs short.
@Suite struct MemoryTests {
    /// A limit of the process itself, which applies where its cgroup has no nearer limit.
    @Test func aWarningComesBeforeTheEnd() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            // For any limit, a part of it is in use.
            let problem = session.watchMemory(nearPercent: 1) { memory in
                guard memory.usedBytes > 0, memory.usedBytes <= memory.limitBytes, memory.percent >= 1 else { exit(2) }
                let percent = Int(Double(memory.usedBytes) * 100 / Double(memory.limitBytes))
                child.note(abs(percent - memory.percent) <= 1 ? "near" : "\(percent) is not \(memory.percent)")
                kill(getpid(), SIGKILL)
            }
            guard problem == nil, session.watchMemory(nearPercent: 90)?.code == .already else { exit(3) }
            while true { _ = try await Task.sleep(for: .seconds(1)) }
        }
        #expect(scene.journal == ["near"])
        let report = try #require(try scene.runs().last)
        #expect(report.verdict?.evidenceKind == .nearMemoryLimit && report.identity?.memoryPressure != nil)
        let stacks = try #require(report.snapshots?.first)
        #expect(stacks.kind == .memory && stacks.isComplete && stacks.threads?.isEmpty == false)
        #expect(try scene.lastLog().contains { $0.hasPrefix("launchguard: memory is near its limit: ") })
    }

    @Test func nonsenseIsRefused() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            for percent in [0, -1, 101, .max, .min] where session.watchMemory(nearPercent: percent, onNear: { _ in exit(2) })?.code != .argument { exit(1) }
            if session.watchMemory(nearPercent: 100) != nil { exit(3) }
        }
    }
}
