package import ArgumentParser
import LaunchGuardSymbols
import ToolBase

/// `launchguard demangle`, which the programs of the tool run for themselves: see `Demangler`.
package struct DemangleCommand: ParsableCommand {
    package static let name = "demangle"
    package static let configuration = CommandConfiguration(
        commandName: name, abstract: "Print names of the source for linker names.", shouldDisplay: false)

    @Argument(parsing: .allUnrecognized) var names: [String] = []

    package init() {}

    package func run() { Demangler.answer(to: names) { Output.write($0) } }
}

/// `launchguard walk`, which the programs of the tool run for themselves: see `StackWalker`.
package struct WalkCommand: ParsableCommand {
    package static let name = "walk"
    package static let configuration = CommandConfiguration(
        commandName: name, abstract: "Walk the stacks of run files again.", shouldDisplay: false)

    @Argument(parsing: .allUnrecognized) var arguments: [String] = []

    package init() {}

    package func run() throws {
        guard let answer = StackWalker.answer(to: arguments) else { throw ExitCode.failure }
        Output.write(String(decoding: answer, as: UTF8.self))
    }
}

/// `launchguard symbolize`, which the programs of the tool run for themselves: see
/// `SwiftSymbolizer`.
package struct SymbolizeCommand: ParsableCommand {
    package static let name = "symbolize"
    package static let configuration = CommandConfiguration(
        commandName: name, abstract: "Answer as llvm-symbolizer does.", shouldDisplay: false)

    @Argument(parsing: .allUnrecognized) var arguments: [String] = []

    package init() {}

    package func run() throws {
        guard let answer = SwiftSymbolizer.answer(to: arguments) else { throw ExitCode.failure }
        Output.write(String(decoding: answer, as: UTF8.self))
    }
}
