import LaunchGuardPlatform
import ToolBase
import ToolRun

/// The program that is installed as `launchguard`. It is static, so that nothing is loaded before
/// the program of `launchguard run` starts, and knows that command alone; for every other command,
/// and for the options that it does not know, it becomes the tool.
@main
enum RunProgram {
    static func main() {
        #if os(Linux)
        let words = CommandLine.paths
        if words.first == "run", let run = ProgramRun(plain: Array(words.dropFirst())) { run.start() }
        #endif
        ProgramBeside.become("launchguard")
        Output.complain("the tool is not installed, which does this; it is libexec/launchguard/launchguard of the prefix")
        exit(ExitStatus.nothingFound.rawValue)
    }
}
