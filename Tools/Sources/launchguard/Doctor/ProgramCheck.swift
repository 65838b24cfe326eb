#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel
import LaunchGuardSymbols
import ToolRun

/// A program: whether it can be run and preloaded, and how its crashes can be identified.
enum ProgramCheck {
    static func findings(_ name: String) -> [Finding] { findings(name, depth: 0) }

    private static func findings(_ name: String, depth: Int) -> [Finding] {
        let path: String
        do throws(RunError) {
            path = try ProgramFile(name).path
        } catch {
            let isMissing = error.status == RunError.noProgram
            return [Finding(.error, isMissing ? "program.missing" : "program.permission", error.message, "name a program that user \(geteuid()) may run, or a program of PATH")]
        }
        guard FileFacts(path)?.isRegular == true else {
            return [Finding(.error, "program.kind", "\(path) is not a file that can be executed", "name the program's file")]
        }
        if let interpreter = interpreter(ofScript: path) {
            let script = Finding(
                .note, "program.script", "\(path) is a script for \(interpreter): the runs are those of \(interpreter), and crashes are its own",
                "give each script a state directory of its own")
            guard depth < 4 else { return [script] }
            return [script] + findings(interpreter, depth: depth + 1)
        }
        guard let file = ELFFile(path: path), let program = file.program() else {
            return [Finding(.error, "program.kind", "\(path) is neither a 64-bit ELF program that can be read nor a script", "name the program's file")]
        }
        let obstacle = PreloadObstacle(path).map { [finding($0, path)] } ?? []
        if obstacle.contains(where: { $0.severity == .error }) { return obstacle }
        return obstacle + stack(path, program) + symbols(path, program, file.buildID()) + LibraryCheck.findings(path, program)
    }

    /// Nil: it is no script.
    private static func interpreter(ofScript path: String) -> String? {
        guard let text = SystemFile.text(path, limit: 256), text.hasPrefix("#!"), let line = text.dropFirst(2).split(separator: "\n").first else { return nil }
        let words = line.split { $0 == " " || $0 == "\t" }
        // "env" stands for a program of PATH.
        if words.count > 1, words[0].hasSuffix("/env") { return words.dropFirst().first { !$0.hasPrefix("-") }.map(String.init) }
        return words.first.map(String.init)
    }

    private static func finding(_ obstacle: PreloadObstacle, _ path: String) -> Finding {
        let alone = "\(path) \(obstacle.text), so that launchguard run sees its wait status alone"
        return switch obstacle {
        case .isForeign:
            Finding(.error, "program.machine", "\(path) \(obstacle.text)", "use a build for this machine")
        case .isStatic:
            Finding(.warning, "program.static", alone, "link LaunchGuard into it, or use a build that is linked dynamically")
        case .hasOtherLoader:
            Finding(.warning, "program.loader", alone, "link LaunchGuard into it, or use a build for glibc")
        case .hasMoreRights:
            Finding(.warning, "program.setuid", alone, "link LaunchGuard into it, or start it as the user whose rights it needs")
        case .isSimulator:
            Finding(.warning, "program.simulator", alone, "run the program without it")
        }
    }

    private static func stack(_ path: String, _ program: ELFProgram) -> [Finding] {
        guard !program.hasUnwindTable || !program.sections.isEmpty && !program.sections.contains(".eh_frame") else { return [] }
        return [
            Finding(
                .warning, "program.unwind", "\(path) has no unwind tables: stacks in it are walked by frame pointers alone, where it has those",
                "build it with -fasynchronous-unwind-tables, or at least -fno-omit-frame-pointer; keep .eh_frame and .eh_frame_hdr when stripping")
        ]
    }

    private static func symbols(_ path: String, _ program: ELFProgram, _ buildID: String?) -> [Finding] {
        var findings: [Finding] = []
        if buildID == nil {
            findings.append(
                Finding(
                    .warning, "program.build-id", "\(path) has no build id: another build of the same version is not known as an upgrade, and symbols cannot be checked",
                    "link it with -Wl,--build-id"))
        }
        let debug = buildID.map { "/usr/lib/debug/.build-id/\($0.prefix(2))/\($0.dropFirst(2)).debug" }
        if !program.hasSymbols, !program.sections.contains(".gnu_debugdata"), debug.flatMap({ FileFacts($0) }) == nil {
            findings.append(
                Finding(
                    .note, "program.symbols", "\(path) is stripped, and its debug file is not on this machine: frames are module and offset here",
                    "install its debug symbols, or keep them elsewhere and name them with --debug-dir"))
        }
        return findings
    }
}
#endif
