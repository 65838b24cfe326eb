import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// Warnings of memory that runs short.
@Suite struct MemoryTests {
    /// A limit of the process itself, which applies where its cgroup has no nearer limit.
    @Test func aWarningComesBeforeTheEnd() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            // For any limit, a part of it is in use.
            try session.watchMemory(nearPercent: 1) { memory in
                guard memory.usedBytes > 0, memory.usedBytes <= memory.limitBytes, memory.percent >= 1 else { exit(2) }
                let percent = Int(Double(memory.usedBytes) * 100 / Double(memory.limitBytes))
                child.note(abs(percent - memory.percent) <= 1 ? "near" : "\(percent) is not \(memory.percent)")
                kill(getpid(), SIGKILL)
            }
            let error = #expect(throws: LaunchGuardError.self) { try session.watchMemory(nearPercent: 90) }
            guard error?.code == .already else { exit(3) }
            try await stayUntilCancelled()
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
            for percent in [0, -1, 101, .max, .min] {
                let error = #expect(throws: LaunchGuardError.self) { try session.watchMemory(nearPercent: percent) { _ in exit(2) } }
                #expect(error?.code == .argument)
            }
            try session.watchMemory(nearPercent: 100)
        }
    }

    /// Held by a closure alone.
    private final class Token: Sendable {}

    /// One percent is always in use.
    @Test func theWatchEndsOnRequestAndItsClosureIsFreed() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            session.stopWatchingMemory()
            for watch in 1...2 {
                weak var token: Token?
                do {
                    let held = Token()
                    token = held
                    try session.watchMemory(nearPercent: 1) { [held] _ in withExtendedLifetime(held) { child.note("watch \(watch)") } }
                }
                try await waitUntil("the watch calls") { child.hasNote("watch \(watch)") }
                #expect(token != nil)
                session.stopWatchingMemory()
                #expect(token == nil)
            }
            // Inside its closure.
            try session.watchMemory(nearPercent: 1) { _ in
                session.stopWatchingMemory()
                child.note("stopped inside")
            }
            try await waitUntil("the watch ends") { (try? session.watchMemory(nearPercent: 100)) != nil }
        }
        #expect(scene.journal == ["watch 1", "watch 2", "stopped inside"])
    }
}
