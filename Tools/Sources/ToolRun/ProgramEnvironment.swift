#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// The environment of the program: that of this process, byte for byte, with the changes made here.
@safe
struct ProgramEnvironment {
    /// As of `environ`; NULL ends it.
    private(set) var variables: [UnsafeMutablePointer<CChar>?]
    /// Variables that hold the number of the process, with room for the program's number; NULL ends
    /// them.
    private(set) var ownNumbers: [UnsafeMutablePointer<CChar>?] = unsafe [nil]

    init() {
        unsafe variables = []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe variables.append(variable)
            unsafe next += 1
        }
        unsafe variables.append(nil)
    }

    /// Nil: the program has no such variable.
    mutating func set(_ name: String, _ value: String?) {
        guard let value else { return remove(name) }
        unsafe put(name, ReportPath.withCString("\(name)=\(value)") { unsafe strdup($0) })
    }

    /// The library comes first, once.
    mutating func preload(_ library: String) {
        let others = Output.variable("LD_PRELOAD") ?? ""
        if others.split(whereSeparator: { $0 == ":" || $0 == " " }).contains(where: { $0 == library }) { return }
        set("LD_PRELOAD", others.isEmpty ? library : "\(library):\(others)")
    }

    /// A supervisor names the process that it started by its number: for sockets that it passes on,
    /// for its watchdog, and for the program's own use. The program is that process.
    mutating func giveOwnNumbers() {
        for name in ["LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"] where Output.variable(name) == String(getpid()) {
            // The identity of this process, for programs that do not trust the number alone.
            if name == "LISTEN_PID" { remove("LISTEN_PIDFDID") }
            giveNumber(name)
        }
    }

    /// The variable holds the number of the program.
    mutating func giveNumber(_ name: String) {
        let room = unsafe calloc(1, name.utf8.count + 16)!.assumingMemoryBound(to: CChar.self)
        unsafe ReportPath.withCString("\(name)=") { _ = unsafe strcpy(room, $0) }
        unsafe put(name, room)
        unsafe ownNumbers.insert(room, at: 0)
    }

    private func isNamed(_ variable: UnsafeMutablePointer<CChar>?, _ name: String) -> Bool {
        guard let variable = unsafe variable else { return false }
        let size = name.utf8.count
        return unsafe strncmp(variable, name, size) == 0 && variable[size] == CChar(UInt8(ascii: "="))
    }

    private mutating func remove(_ name: String) {
        unsafe variables = variables.filter { unsafe !isNamed($0, name) }
    }

    private mutating func put(_ name: String, _ variable: UnsafeMutablePointer<CChar>?) {
        let end = unsafe variables.count - 1
        let index = unsafe variables.firstIndex { unsafe isNamed($0, name) }
        if let index { unsafe variables[index] = variable } else { unsafe variables.insert(variable, at: end) }
    }
}
#endif
