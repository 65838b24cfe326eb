import Foundation
import LaunchGuardReportModel

/// Reports made by hand, for tests of their processing.
enum Sample {
    static let module = RunModule(
        path: "/opt/notes/notes", buildID: "0123456789abcdef", start: Address(0x5581_c61b_0000), end: Address(0x5581_c61c_0000),
        bias: Address(0x5581_c61b_0000))

    /// A report in JSON with every field that a crash can have.
    static let crashJSON = """
        {"schema":1,"type":"run","path":"/var/lib/notes/runs/12-6b1f.lgrun",
         "identity":{"uuid":"6b1f9f1e-0000-4000-8000-000000000001","ordinal":12,"appID":"org.example.notes","appVersion":"1.4.2",
          "executable":"/opt/notes/notes","buildID":"0123456789abcdef","bootID":"b","processID":4711,"userID":1000,
          "started":"2026-01-31T12:00:00.000000001Z","monotonicNanoseconds":1000000000,"isStartComplete":true,"isAlive":false,
          "isSecondary":false,"healedPages":0,
          "termination":{"signal":{"number":15,"name":"SIGTERM"},"senderProcessID":1,"senderUserID":0,"monotonicNanoseconds":5}},
         "verdict":{"end":"crash","evidence":"the run file holds a crash record","signal":{"number":11,"name":"SIGSEGV"},
          "signalCode":1,"kind":"fault.null_read","monotonicNanoseconds":2402000000},
         "fingerprint":"6bc0c37437f4aeabb1fb4203ae4651f5",
         "contexts":[{"name":"main","phase":"launching","begunNanoseconds":1100000000,"launchingNanoseconds":1200000000,
          "windowMilliseconds":5000,"finish":"either","task":"open database"}],
         "crash":{"signal":{"number":11,"name":"SIGSEGV"},"code":1,"codeName":"SEGV_MAPERR","kind":"fault.null_read","what":"read through a NULL pointer",
          "address":"0x0000000000000000","programCounter":"0x00005581c61b6581","stackPointer":"0x00007ffd00001000",
          "framePointer":"0x00007ffd00001040","trap":14,"error":4,"threadID":4712,"threadName":"loader",
          "stackLow":"0x00007ffd00000000","stackHigh":"0x00007ffd00800000","time":"2026-01-31T12:00:01.402000001Z",
          "monotonicNanoseconds":2402000000,"sequence":1,"isHandled":false,"stages":["header","context","frames","done"],
          "registers":[{"name":"rax","value":"0x0000000000000007"}],
          "framePointerStack":{"method":"frame-pointers","innermost":2,"omitted":90,"total":93,"isTruncated":true,
           "reason":"the stack ends","frames":[
            {"address":"0x00005581c61b6581","lookup":"0x00005581c61b6581","module":"/opt/notes/notes",
             "fileAddress":"0x0000000000006581","symbols":[
              {"name":"Array.subscript.getter","isInlined":true,"mangledName":"$sSayxSicig"},
              {"name":"Notes.open()","offset":129,"file":"Sources/App/Notes.swift","line":42,"column":7,"isInlined":false}]},
            {"address":"0x00005581c61b7001","lookup":"0x00005581c61b7000","module":"/opt/notes/notes",
             "fileAddress":"0x0000000000007000"},
            {"address":"0x0000000000001235","lookup":"0x0000000000001234"}]},
          "stackMemory":{"start":"0x00007ffd00001000","bytes":"00ff"},
          "notes":[{"kind":"recrash","signal":{"number":7,"name":"SIGBUS"},"threadID":4712,"stage":"dwarf",
           "programCounter":"0x0000000000000010"}]},
         "breadcrumbs":{"torn":1,"overwrittenBytes":64,"overwrittenEntries":2,"entries":[
          {"lane":0,"sequence":7,"monotonicNanoseconds":1300000000,"time":"2026-01-31T12:00:00.300000001Z","threadID":4711,
           "level":"warning","text":"disk is slow","isCut":false},
          {"lane":1,"sequence":1,"monotonicNanoseconds":1400000000,"threadID":4712,"level":"35","text":"cut here","isCut":true}]},
         "modules":[{"path":"/opt/notes/notes","buildID":"0123456789abcdef","start":"0x00005581c61b0000",
          "end":"0x00005581c61c0000","bias":"0x00005581c61b0000"}],
         "problems":[{"part":"dwarf stack","code":"incomplete","message":"this part was not committed before the process ended"}]}
        """

    static func crash() throws -> RunReport {
        try JSONLine.value(from: crashJSON)
    }

    /// The crash with every part that a record can have.
    static func surrounded() throws -> RunReport {
        let crash = """
            "crash":{"isSiginfoLost":true,"messages":[{"source":"swift","text":"Fatal error: no notes","isCut":false},
              {"source":"9","text":"of a later version","isCut":true}],
             "addressMapping":{"start":"0x00007f0000000000","end":"0x00007f0000002000","permissions":"r--s","offset":0,"path":"/var/data"},
             "addressPlace":"in the mapped file /var/data at offset 0x0, mapped r--s",
             "possibleFrames":[{"address":"0x00005581c61b7001","lookup":"0x00005581c61b7000"}],
             "threads":[{"threadID":4713,"how":"silent","state":"D","blockedSignals":[{"number":15,"name":"SIGTERM"}]},
              {"threadID":4714,"name":"worker","how":"captured","state":"S","programCounter":"0x00005581c61b6000",
               "stackPointer":"0x00007f0000001000","stackLow":"0x00007f0000000000","stackHigh":"0x00007f0000002000",
               "registers":[{"name":"rip","value":"0x00005581c61b6000"}],
               "stack":{"method":"dwarf","innermost":1,"omitted":0,"total":1,"isTruncated":false,"assumedFrames":2,"frames":[
                {"address":"0x00005581c61b6000","lookup":"0x00005581c61b6000"}]}}],
             "threadCounts":{"listed":3,"captured":1,"masked":0,"silent":1,"omitted":1,"listProblem":"denied","waitedNanoseconds":7},
             "memory":[{"threadID":4712,"start":"0x00007ffd00001000","size":2,"bytes":"00ff"}],
             "memoryMap":{"isCut":true,"mappings":[
              {"start":"0x00005581c61b0000","end":"0x00005581c61c0000","permissions":"r-xp","offset":4096,"path":"/opt/notes/notes"},
              {"start":"0x00007f0000000000","end":"0x00007f0000002000","permissions":"r--s","offset":0,"path":"/var/data"}]},
             "resources":{"resident":{"value":12582912,"unit":"bytes"},"virtual":{"value":1610612736,"unit":"bytes"},
              "virtual_limit":{"unit":"bytes"},"cgroup_memory":{"value":4096,"unit":"bytes"},"cgroup_limit":{"value":16777216,"unit":"bytes"},
              "descriptors":{"value":12,"unit":""},"descriptor_limit":{"value":1024,"unit":""},"cpu_user":{"value":1500000000,"unit":"ns"},
              "cpu_limit":{"unit":"s"},"memory_pressure_some":{"value":105,"unit":"0.01 %"},"load_1_min":{"value":7,"unit":"0.01"},
              "uptime":{"value":3670,"unit":"s"},"tracer_pid":{"value":0,"unit":""},"frobs":{"value":3,"unit":"per minute"}},
            """
        return try JSONLine.value(
            from: crashJSON.replacing("\"crash\":{", with: crash).replacing(
                "\"problems\":[",
                with: #""standardError":{"text":"last \u001b[31mwords\nof it\n","totalBytes":82,"omittedBytes":60},"problems":["#))
    }

    /// The folder of the project.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The golden file with every part of a crash.
    static let goldenPath = root
        .appending(path: "Tests/Golden/parts.lgrun").path

    /// The golden ledger that a program wrote, and the one that was made by hand.
    static func golden(_ name: String) -> String {
        root.appending(path: "Tests/Golden/\(name)").path
    }

    static func ledger() throws -> LedgerReport {
        try JSONLine.value(
            from: """
                {"schema":1,"type":"ledger","path":"/var/lib/notes/ledger.lg","appID":"org.example.notes","appVersion":"1.4.2",
                 "generation":17,"lastOrdinal":12,"problems":[],
                 "contexts":[{"name":"main","status":"needs-repair","mode":"probation","isHalted":false,"isDue":true,"isShadow":false,
                  "streak":2,"unknown":0,"reported":2,"reportAfter":1,"repairAfter":2,"unknownAfter":4,"safeCrashLimit":2,"rung":1,"attempts":1,
                  "interruptions":0,"skips":0,"goodRuns":0,"retryRuns":2,"safeCrashes":0,"lastTask":"open database",
                  "ladder":[{"name":"leave out the suspect task","impact":0,"attempts":1,"isBuiltIn":true,"isDestructive":false,"needsConsent":false,
                   "needsRestart":false},{"name":"clear cache","impact":10,"attempts":2,"timeoutMilliseconds":30000,"isBuiltIn":false,
                   "isDestructive":false,"needsConsent":false,"needsRestart":false,"lastSeries":"2026-01-31T11:00:00.000000000Z"},
                   {"name":"delete notes","impact":90,"attempts":1,"timeoutMilliseconds":30000,"isBuiltIn":false,"isDestructive":true,
                   "needsConsent":true,"needsRestart":false,"lastSeries":"2026-01-31T10:00:00.000000000Z"}],
                  "suspects":[{"key":"open database","crashes":2,"isLeftOut":true}],"launches":9,"crashes":2,"repairs":1}],
                 "timeline":[{"uuid":"u1","ordinal":11,"started":"2026-01-31T11:00:00.000000000Z","durationNanoseconds":1402000000,
                  "verdict":{"end":"crash","evidence":"the run file holds a crash record","signal":{"number":11,"name":"SIGSEGV"},
                   "kind":"fault.null_read"},"launching":["main"],"repairing":[],"counted":["main"],"attributed":["main"],
                  "events":[{"context":"main","events":["reported","0x4000"]}]}],
                 "uncounted":[{"path":"p","uuid":"u2","ordinal":12,"isSecondary":false,
                  "verdict":{"end":"unknown","evidence":"the process was gone without any mark: killed, or ended without exit()"}}]}
                """)
    }
}

/// A folder that is removed after the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "launchguard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Write a file into the folder.
    @discardableResult
    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let url = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }
}

extension [UInt8] {
    /// The place of a section, by the table in the header.
    func offset(ofSection kind: UInt8) -> Int? {
        let table = stride(from: 64, to: 496, by: 24)
        return table.first { self[$0] == kind }.map { at in self[at + 8..<at + 16].reversed().reduce(0) { $0 << 8 | Int($1) } }
    }
}
