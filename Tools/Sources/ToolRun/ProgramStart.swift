#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel

/// A program that was started.
struct StartedProgram {
    let process: pid_t
    /// The program leads a process group of its own; else it is in that of this process.
    let leads: Bool
}

/// Starts the program, with the last arguments of this process and the signals that this process
/// was given. All signals are blocked here from then on.
@safe
struct ProgramStart {
    private let file: ProgramFile
    private let count: Int
    private let given: lg_shim_signals
    /// The program leads a process group, as this process does.
    private let leads: Bool

    init(_ file: ProgramFile, argumentCount: Int) {
        var given = lg_shim_signals()
        unsafe lg_shim_take_signals(&given)
        self.file = file
        count = argumentCount
        leads = lg_shim_leads() != 0
        self.given = given
    }

    /// Starts the program; what it says on standard error is kept in `words`.
    func program(_ environment: ProgramEnvironment, _ words: KeptWords?) throws(RunError) -> StartedProgram {
        defer { words?.handOver() }
        let own = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        var process: pid_t = 0
        let error = unsafe start(file.path, Array(own.suffix(count)), environment, leads, &process)
        guard error == 0 else { throw file.refused(error) }
        return StartedProgram(process: process, leads: leads)
    }

    /// A command for /bin/sh; nil: it could not be started.
    func command(_ text: String, _ environment: ProgramEnvironment) -> pid_t? {
        let words = unsafe ["sh", "-c", text].map { word in unsafe ReportPath.withCString(word) { unsafe strdup($0) } }
        defer { for unsafe word in unsafe words { unsafe free(word) } }
        var process: pid_t = 0
        return unsafe start("/bin/sh", words, environment, false, &process) == 0 ? process : nil
    }

    private func start(
        _ path: String, _ words: [UnsafeMutablePointer<CChar>?], _ environment: ProgramEnvironment, _ leads: Bool,
        _ process: inout pid_t
    ) -> Int32 {
        // Room in front for a shell, should the program be a script that names none.
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [nil] + words + [nil]
        var variables = unsafe environment.variables, numbers = unsafe environment.ownNumbers
        var given = given
        return unsafe ReportPath.withCString(path) { path in
            unsafe arguments.withUnsafeMutableBufferPointer { arguments in
                unsafe variables.withUnsafeMutableBufferPointer { variables in
                    unsafe numbers.withUnsafeMutableBufferPointer { numbers in
                        var program = unsafe lg_shim_program(
                            path: path, arguments: arguments.baseAddress! + 1, environment: variables.baseAddress, own_numbers: numbers.baseAddress, leads: leads ? 1 : 0)
                        return unsafe lg_shim_start_program(&program, &given, &process)
                    }
                }
            }
        }
    }
}
#endif
