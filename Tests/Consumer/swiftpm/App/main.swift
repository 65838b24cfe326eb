import CPart
import Glibc
import LaunchGuard

// App DIR crash: prove protection through C and Swift, then crash. App DIR check: prove that the
// crash was recorded. App DIR bare: answer a line without a session. App DIR protected: the same
// with one.
func answer() {
    print("ready")
    cpart_flush()
    print("heard:", line())
    cpart_flush()
}

// readLine() turns for ever where a signal handler interrupted it.
func line() -> String {
    var bytes = [UInt8](), byte: UInt8 = 0
    while true {
        let count = read(STDIN_FILENO, &byte, 1)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 || byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
    }
}

// Types of the program's own, with names that the library has, too.
struct Session {}
enum LogLevel {}

if CommandLine.arguments[2] == "bare" {
    answer()
    exit(0)
}
let session: LaunchGuard.Session = try LaunchGuard.Session.start(appID: "org.example.consumer", stateDirectory: CommandLine.arguments[1])
guard session.protection == .full, cpart_protection() == Int32(LG_PROTECTION_FULL.rawValue) else {
    fatalError("not fully protected: \(String(describing: session.problem))")
}
if CommandLine.arguments[2] == "protected" {
    answer()
    exit(0)
}
print("fully protected")
print(String(cString: cpart_thrower()))
cpart_flush()
if CommandLine.arguments[2] == "crash" {
    let numbers = [Int]()
    print(numbers[CommandLine.arguments.count]) // traps
}
print(session.runPath ?? "")
