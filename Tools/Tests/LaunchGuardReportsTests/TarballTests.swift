import Foundation
import LaunchGuardReportModel
import Testing
import TestSupport

/// A tarball in place of a state directory: friendly, damaged and hostile ones. Nothing is left of
/// it, whatever happens.
@Suite struct TarballTests {
    /// A folder of a device with one state directory, from which scripts make tarballs.
    private struct Device {
        let folder: TemporaryFolder
        let scratch: TemporaryFolder

        static func make() async throws -> Device {
            let state = try await RecordedState.make()
            let device = Device(folder: try TemporaryFolder(), scratch: try TemporaryFolder())
            try FileManager.default.createDirectory(atPath: device.folder.path + "/var/lib", withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: state.folder.path, toPath: device.folder.path + "/var/lib/notes")
            return device
        }

        /// Runs a script in the folder: it makes tarballs of `var` and of what else it makes.
        func prepare(_ script: String) throws {
            let result = try Tool.run(["-ec", script], folder: folder.path, program: "/bin/sh")
            try #require(result.status == 0, "\(result.errors)")
        }

        /// The tool, in the folder, with a place of its own for what it unpacks, which is empty
        /// afterwards.
        func run(_ arguments: [String]) throws -> Tool.Result {
            let result = try Tool.run(arguments, variables: ["TMPDIR": scratch.path], folder: folder.path)
            #expect(try isEmpty, "\(arguments) leaves nothing behind")
            return result
        }

        var isEmpty: Bool { get throws { try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty } }
    }

    @Test(arguments: [("device.tar", ""), ("device.tar.gz", "gzip"), ("device.tgz", "gzip"), ("device.tar.xz", "xz"), ("device.tar.zst", "zstd"), ("device.tar.bz2", "bzip2")])
    func itIsReadAsAFolder(name: String, program: String) async throws {
        guard program.isEmpty || FileManager.default.isExecutableFile(atPath: "/usr/bin/" + program) || FileManager.default.isExecutableFile(atPath: "/bin/" + program) else {
            print("\(name): not tested, as there is no \(program) here")
            return
        }
        let device = try await Device.make()
        try device.prepare("tar -caf '\(name)' var")
        let plain = try device.run(["list", "--no-symbols", "var/lib/notes"])
        let list = try device.run(["list", "--no-symbols", name])
        #expect(list.status == 0 && list.errors.isEmpty && list.output == plain.output)
        #expect(try device.run(["verify", name]).output == "\(name)/var/lib/notes: 3 files, 3 whole\n")
        #expect(try device.run(["log", "--run", "1", name]).output.contains("first words"))
        #expect(try device.run(["inspect", name]).output.contains("streak 1"))
        let run: RunReport = try JSONLine.value(from: try device.run(["inspect", "--json", "--run", "1", device.folder.path + "/" + name]).output)
        #expect(run.crash?.address == Address(8) && run.path.hasPrefix(name + "/var/lib/notes/runs/00000001-"))
        #expect(try device.run(["inspect", run.path]).output.hasPrefix("access through a NULL pointer"), "the path that it shows leads there")
    }

    @Test func aPathInATarballNamesOneOfSeveral() async throws {
        let device = try await Device.make()
        try device.prepare("cp -r var/lib/notes var/lib/player; tar --force-local -cf 'a b:c.tar' -C var . ; ln -s 'a b:c.tar' link.tar; mkdir folder.tar; cp -r var/lib/notes/* folder.tar")
        let all = try device.run(["inspect", "a b:c.tar"])
        #expect(all.status == 2 && all.errors.contains("name one of them:\n  a b:c.tar/lib/notes\n  a b:c.tar/lib/player\n"), "\(all.errors)")
        #expect(try device.run(["log", "--run", "1", "a b:c.tar/lib/player"]).status == 0)
        #expect(try device.run(["list", "a b:c.tar/./lib"]).output.matches(of: /^a b:c.tar.*:$/.anchorsMatchLineEndings()).count == 2)
        #expect(try device.run(["list", "link.tar"]).status == 0 && device.run(["list", "folder.tar"]).status == 0)
        #expect(try device.run(["inspect", "a b:c.tar/lib/absent"]).status == 1)
        #expect(try device.run(["upload", "a b:c.tar"]).status == 2)
    }

    @Test func aTarballThatIsCutShowsWhatIsThere() async throws {
        let device = try await Device.make()
        try device.prepare("tar -cf whole.tar var/lib/notes/ledger.lg var/lib/notes/runs; head -c $(($(stat -c %s whole.tar) / 2)) whole.tar >cut.tar; gzip -c whole.tar | head -c 99 >cut.tar.gz; echo nonsense >text.tar")
        let cut = try device.run(["list", "--no-symbols", "cut.tar"])
        #expect(cut.status == 3 && cut.errors.contains("cut.tar: tar says: tar: Unexpected EOF") && cut.output.contains("org.example.reports"), "\(cut)")
        for name in ["cut.tar.gz", "text.tar"] {
            let result = try device.run(["list", name])
            #expect(result.status == 3 && result.output.isEmpty && result.errors.contains("\(name): tar says: "), "\(result)")
        }
        #expect(try device.run(["list", "absent.tar"]).status == 1)
        try device.prepare("tar -cf other.tar symbols 2>/dev/null || tar -cf other.tar text.tar")
        let other = try device.run(["list", "other.tar"])
        #expect(other.status == 1 && other.errors.contains("other.tar: not a state directory"), "\(other)")
    }

    /// Members with a leading "/" or "..", and links in place of files and of folders.
    @Test func nothingIsWrittenOrReadElsewhere() async throws {
        let device = try await Device.make()
        try device.prepare(
            """
            notes=$PWD/var/lib/notes victim=$PWD/victim
            mkdir victim; cp "$notes/ledger.lg" victim/secret
            tar -cPf absolute.tar --transform "s,$notes,$victim,rSH" "$notes"
            tar -cPf parent.tar --transform 's,^var/lib/notes,../victim,rSH' var/lib/notes
            mkdir links; cd links
            ln -s "$victim/secret" ledger.lg; ln -s "$victim" evil.lgrun; mkdir runs; ln -s ../../victim/secret runs/00000001-a.lgrun
            ln "$victim/secret" runs/00000002-b.lgrun; mkfifo runs/00000003-c.lgrun
            ln -s "$victim" spool
            tar -cPf ../links.tar ledger.lg evil.lgrun runs spool "$victim/secret"
            tar -rPf ../links.tar --transform "s,.*,runs/00000004-d.lgrun,rSH" "$victim/secret"
            rm evil.lgrun spool; mkdir evil.lgrun spool; cp "$victim/secret" evil.lgrun/ledger.lg; cp "$victim/secret" spool/config
            tar -rf ../links.tar evil.lgrun/ledger.lg spool/config
            """)
        func isUntouched() throws -> Bool { try FileManager.default.contentsOfDirectory(atPath: device.folder.path + "/victim") == ["secret"] }
        let absolute = try device.run(["list", "--no-symbols", "absolute.tar"])
        #expect(absolute.status == 0 && absolute.output.contains("#1 ") && absolute.errors.isEmpty, "\(absolute)")
        #expect(try isUntouched())
        let parent = try device.run(["list", "parent.tar"])
        #expect(parent.status == 3 && parent.errors.contains("Member name contains '..'") && parent.output.isEmpty, "\(parent)")
        #expect(try isUntouched())
        let links = try device.run(["list", "--json", "links.tar"])
        #expect(links.errors.contains("links or special files are left out") && !links.output.contains("00000001-a") && !links.output.contains("00000003-c"), "\(links)")
        #expect(try isUntouched())
    }

    @Test func aBombIsRefused() async throws {
        let device = try await Device.make()
        try device.prepare(
            """
            truncate -s 1T huge.lgrun; tar -S -czf huge.tar.gz huge.lgrun; rm huge.lgrun
            : >a.lgrun; yes a.lgrun | head -n 20001 >names; tar -czf many.tar.gz -T names
            """)
        let huge = try device.run(["list", "huge.tar.gz"])
        #expect(huge.status == 3 && huge.output.isEmpty && huge.errors.contains("tar says: "), "\(huge)")
        let many = try device.run(["list", "many.tar.gz"])
        #expect(many.status == 1 && many.output.isEmpty && many.errors.contains("more than 20000 files or 512 MiB"), "\(many)")
    }

    /// Also of a tool that has no chance to do so.
    @Test(arguments: [SIGINT, SIGTERM, SIGKILL]) func aToolThatIsStoppedLeavesNothing(signal: Int32) async throws {
        let device = try await Device.make()
        // The tool waits for a symbolizer that ends with it. The path is meant from the folder in
        // which the tool was started.
        try device.prepare("tar -cf device.tar var; printf '#!/bin/sh\\n: >asked\\nwhile echo; do sleep 0.2; done\\n' >slow; chmod +x slow")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // A thread of Swift blocks signals.
        let unblocked = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
        process.arguments = ["python3", "-c", unblocked, Tool.path, "inspect", "--run", "1", "--symbolizer", "./slow", "device.tar"]
        process.currentDirectoryURL = URL(filePath: device.folder.path)
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": device.scratch.path]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        // On this thread: other tests may keep those of the pool for longer than the tool waits.
        try blockUntil("the tool asks the symbolizer") {
            let made = try FileManager.default.contentsOfDirectory(atPath: device.scratch.path).first
            return !process.isRunning || made.map { FileManager.default.fileExists(atPath: "\(device.scratch.path)/\($0)/asked") } == true
        }
        #expect(try !device.isEmpty && process.isRunning)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
        try blockUntil("nothing is left") { try device.isEmpty }
    }
}
