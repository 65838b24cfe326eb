import Foundation
import LaunchGuardReportModel
import Testing
import TestSupport

/// `launchguard upload`, as a user runs it.
@Suite(.timeLimit(.minutes(10))) struct UploadTests {
    /// Without a program of the agent, and with every reason why none may run.
    @Test func whatIsInTheWayIsNamed() async throws {
        let state = try await RecordedState.make()
        let path = state.folder.path
        func upload(_ arguments: [String] = [], agent: String = "/nonexistent") throws -> Tool.Result {
            let result = try Tool.run(["upload"] + arguments + [path], variables: ["LAUNCHGUARD_AGENT": agent])
            #expect(result.output.isEmpty && !FileManager.default.fileExists(atPath: path + "/spool/agent.log"))
            return result
        }
        let missing = try upload()
        #expect(missing.status == 1 && missing.errors == "launchguard: \(path)/spool: there is no spool; the program makes it with lg_delivery_start()\n")
        #expect(try Tool.run(["upload", "/nonexistent"]).status == 1)
        #expect(try Tool.run(["upload", state.runPath]).errors.contains("upload needs a state directory"))
        #expect(try upload(["--timeout", "0"]).status == 2)

        try state.folder.makeSpool()
        try state.folder.add(SpooledReport(), to: "new")
        #expect(try upload().status == 5)
        #expect(try upload().errors.contains("launchguard-agent was not found"))
        #expect(try upload(["--agent", "/etc/passwd"]).errors == "launchguard: /etc/passwd: there is no such program, or it may not be run\n")
        try state.folder.write(Array("none 2\n".utf8), "spool/consent")
        let refused = try upload(agent: "/bin/false")
        #expect(refused.status == 5 && refused.errors.contains("has not consented") && refused.errors.contains("lg_delivery_consent()"))
        try state.folder.write([], "spool/config")
        #expect(try upload(agent: "/bin/false").errors.contains("no program has said where reports go"))
        try state.folder.write([], "spool/off")
        #expect(try upload(agent: "/bin/false").errors.contains("delete \(path)/spool/off"))
        #expect(try upload(agent: "/bin/false").status == 5)
    }

    /// The agent's action, its exit status, the tool's exit status, and its output.
    private static let agents: [(script: String, status: Int32, output: String)] = [
        (#"mv "$2"/spool/new/* "$2/spool/sent""#, 0, "#3    crash       sent\n"),
        (#"mv "$2"/spool/new/* "$2/spool/dead""#, 4, "#3    crash       dead; stands for 2 more\n"),
        ("exit 6", 4, "#3    crash       pending; stands for 2 more\n"),
        ("exit 5", 5, ""),
        ("echo why >&2; exit 9", 5, ""),
        (#"[ "$*" = "--state $2 --once --via tool" ] && [ "$(cat "$2/spool/nudge")" = tool ] && exit 6"#, 4, "#3    crash       pending; stands for 2 more\n"),
        ("kill $$", 5, ""),
        // Longer than the time limit of the test.
        ("trap '' TERM; exec sleep 130", 4, "#3    crash       pending; stands for 2 more\n"),
    ]

    @Test(arguments: agents) func anAgentIsRun(script: String, status: Int32, output: String) throws {
        let folder = try TemporaryFolder()
        try folder.makeSpool()
        try folder.write([], "runs/none")
        try folder.add(SpooledReport(ordinal: 3, more: output.contains("2 more") || status == 5 ? 2 : 0), to: "new")
        // Another process writes the program: a file cannot be executed while a process has it open
        // for writing, as a child that this process forks at the same time may.
        let text = try folder.write(Array("#!/bin/sh\n\(script)\n".utf8), "agent.text")
        let agent = folder.path + "/agent"
        #expect(try Tool.run(["-c", #"cp "$0" "$1" && chmod 700 "$1""#, text, agent], program: "/bin/sh").status == 0)
        let result = try Tool.run(["upload", "--timeout", script.contains("sleep") ? "1" : "60", "--agent", agent, folder.path])
        #expect(result.status == status && result.output == output, "\(result)")
        let why = script.contains("why") ? "why\n" : "launchguard: \(agent): it failed; \(folder.path)/spool/agent.log says more\n"
        #expect(result.errors == (status == 5 ? why : ""))
        let again = try Tool.run(["upload", "--json", "--agent", "/bin/true", folder.path])
        if status == 0 { #expect(again.status == 0 && again.output.isEmpty) }
        if status == 4 { #expect(try again.status == 4 && JSONLine.value(DeliveryEntry.self, from: again.output).ordinal == 3) }
        if status == 0 { #expect(try Tool.run(["upload", "--agent", "/bin/true", folder.path]).output == "nothing to send\n") }
    }

    @Test func aLivingAgentIsAsked() throws {
        let folder = try TemporaryFolder()
        try folder.makeSpool()
        try folder.write([], "runs/none")
        let report = SpooledReport(ordinal: 5)
        try folder.add(report, to: "new")
        let agent = try LivingAgent(folder)
        let path = folder.path
        // A thread of its own: the tool that the test waits for keeps one of Swift's.
        let name = report.name
        Thread.detachNewThread {
            let nudge = path + "/spool/nudge"
            try? blockUntil("the tool asks") { FileManager.default.fileExists(atPath: nudge) }
            guard (try? String(contentsOfFile: nudge, encoding: .utf8)) == "tool" else { return }
            try? FileManager.default.moveItem(atPath: "\(path)/spool/new/\(name)", toPath: "\(path)/spool/sent/\(name)")
            try? FileManager.default.removeItem(atPath: nudge)
        }
        let result = try Tool.run(["upload", path], variables: ["LAUNCHGUARD_AGENT": "/nonexistent"])
        #expect(result.status == 0 && result.output == "#5    crash       sent\n" && result.errors.isEmpty, "\(result)")
        try folder.add(SpooledReport(ordinal: 6), to: "new")
        #expect(try Tool.run(["upload", "--timeout", "1", path]).status == 4, "the agent does not answer")
        agent.end()
    }

    private static let agent = Sample.root.appending(path: "build/gcc/Sources/launchguard-agent/launchguard-agent").path

    /// With the agent itself, where it was built.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: agent))) func aReportReachesAServer() throws {
        let folder = try TemporaryFolder()
        let server = try ReportServer(folder.path + "/requests")
        try folder.makeSpool(endpoint: server.address)
        try folder.write([], "runs/none")
        try folder.add(SpooledReport(brief: Array(#"{"words":"of the report"}"#.utf8)), to: "new")
        let result = try Tool.run(["upload", "--agent", Self.agent, folder.path])
        // On a busy machine there is a line of the request under way.
        #expect(result.status == 0 && result.output.split(separator: "\n").last?.hasPrefix("#1    crash       sent; at 20") == true && result.errors.isEmpty, "\(result)")
        let requests = try String(contentsOfFile: folder.path + "/requests", encoding: .utf8)
        #expect(requests.hasPrefix("POST /reports HTTP/1.1\r\n") && requests.contains("\r\nX-LaunchGuard-Via: tool\r\n"))
        #expect(requests.contains("\r\n\r\n{\"words\":\"of the report\"}"))
    }
}

/// Writes each request to a file, and answers it with 200; on a port of this machine.
private final class ReportServer {
    private let listener: Int32
    let address: String

    init(_ path: String) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &name) { [listener] in
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, size) | listen(listener, 16) | getsockname(listener, $0, &size)
            }
        }
        try #require(status == 0)
        address = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/reports"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        Thread.detachNewThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Self.serve(client, file)
                close(client)
            }
            close(file)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func serve(_ client: Int32, _ file: Int32) {
        var request = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(client, &buffer, buffer.count)
            guard count > 0 else { return }
            unsafe write(file, buffer, count)
            request += String(decoding: buffer.prefix(count), as: UTF8.self)
            let size = request.firstMatch(of: /Content-Length: (\d+)/.ignoresCase()).flatMap { Int($0.1) } ?? 0
            guard let head = request.firstRange(of: "\r\n\r\n"), request[head.upperBound...].utf8.count >= size else { continue }
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
            unsafe write(client, answer, answer.count)
            return
        }
    }
}
