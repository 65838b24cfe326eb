import LaunchGuardPlatform
import LaunchGuardReports
import LaunchGuardSymbols

/// A program: whether it can be run and preloaded, and what its crashes can be told by.
enum ProgramCheck {
    static func findings(_ name: String) -> [Finding] {
        guard let path = find(name) else {
            return [Finding(.error, "program.missing", "\(name) was not found", "name its path, or a program of PATH")]
        }
        return findings(path: path, depth: 0)
    }

    /// As execvp() finds it; the first one that may not be executed, where there is no other.
    private static func find(_ name: String) -> String? {
        if name.contains("/") { return FileFacts(name) == nil ? nil : name }
        let folders = (Output.variable("PATH") ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false)
        let paths = folders.map { $0.isEmpty ? name : "\($0)/\(name)" }.filter { FileFacts($0)?.isRegular == true }
        return paths.first { FileFacts.may(X_OK, $0) } ?? paths.first
    }

    private static func findings(path: String, depth: Int) -> [Finding] {
        guard let facts = FileFacts(path) else {
            return [Finding(.error, "program.missing", "\(path) was not found", "install it")]
        }
        guard facts.isRegular else { return [Finding(.error, "program.kind", "\(path) is not a file that can be executed", "name the program's file")] }
        guard FileFacts.may(X_OK, path) else {
            return [Finding(.error, "program.permission", "\(path) may not be executed by user \(geteuid())", "give that user the right: chmod +x \(path)")]
        }
        if let interpreter = interpreter(ofScript: path) {
            let script = Finding(
                .note, "program.script", "\(path) is a script for \(interpreter): the runs are those of \(interpreter), and crashes are its own",
                "give each script a state directory of its own")
            guard depth < 4 else { return [script] }
            return [script] + findings(path: interpreter, depth: depth + 1)
        }
        guard let file = ELFFile(path: path), let program = file.program() else {
            return [Finding(.error, "program.kind", "\(path) is neither a 64-bit ELF program that can be read nor a script", "name the program's file")]
        }
        if let own = ELFFile(path: "/proc/self/exe")?.program()?.machine, own != program.machine {
            return [Finding(.error, "program.machine", "\(path) is for another kind of machine", "use a build for this machine, and its launchguard")]
        }
        return entry(path, facts, program) + stack(path, program) + symbols(path, program, file.buildID()) + LibraryCheck.findings(path, program)
    }

    /// Nil: it is no script.
    private static func interpreter(ofScript path: String) -> String? {
        guard let text = SystemFile.text(path, limit: 256), text.hasPrefix("#!"), let line = text.dropFirst(2).split(separator: "\n").first else { return nil }
        let words = line.split { $0 == " " || $0 == "\t" }
        // "env" stands for a program of PATH.
        if words.count > 1, words[0].hasSuffix("/env") { return words.dropFirst().first { !$0.hasPrefix("-") }.flatMap { find(String($0)) ?? String($0) } }
        return words.first.map(String.init)
    }

    private static func entry(_ path: String, _ facts: FileFacts, _ program: ELFProgram) -> [Finding] {
        let isTrusted = facts.mode & S_ISUID != 0 && facts.owner != geteuid() || facts.mode & S_ISGID != 0 && facts.mode & S_IXGRP != 0
        if isTrusted {
            return [
                Finding(
                    .warning, "program.setuid", "\(path) runs with rights of its own, so that the loader drops preloaded libraries: run sees its wait status alone",
                    "link LaunchGuard into it, or start it as the user whose rights it needs")
            ]
        }
        if program.interpreter == nil {
            return [
                Finding(
                    .warning, "program.static", "\(path) is statically linked, so that nothing can be preloaded: run sees its wait status alone",
                    "link LaunchGuard into it, or use a build that is linked dynamically")
            ]
        }
        return []
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
        if !program.hasSymbols, debug.flatMap({ FileFacts($0) }) == nil {
            findings.append(
                Finding(
                    .note, "program.symbols", "\(path) is stripped, and its debug file is not on this machine: frames are module and offset here",
                    "install its debug symbols, or keep them elsewhere and name them with --debug-dir"))
        }
        return findings
    }
}
