import Foundation
import PackagePlugin

/// `swift package crash-report [PRODUCT] [OPTION…]`: the last crash of an executable of the
/// package, as `launchguard inspect` shows it with the options.
@main
struct CrashReport: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var extractor = ArgumentExtractor(arguments)
        let directory = extractor.extractOption(named: "state-directory").last
        var options = extractor.remainingArguments
        let named = options.first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        if named != nil { options.removeFirst() }
        let products = context.package.products.compactMap { $0 as? ExecutableProduct }.map(\.name)
        if let named, !products.contains(named) {
            throw Problem("\(context.package.displayName) has no executable \(named), but \(products.joined(separator: ", "))")
        }
        let tool = try Tool(context)
        guard let target = try directory ?? tool.stateDirectory(of: named.map { [$0] } ?? products) else {
            throw Problem("no run of \(named ?? "an executable of this package") is in \(Tool.stateHome); --state-directory names another folder")
        }
        let status = try tool.run(["inspect"] + (options.isEmpty ? ["--last", "crash"] : options) + [target])
        guard status == 0 else { throw Problem("launchguard inspect of \(target) ended with status \(status)") }
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The program `launchguard`: one that is installed, or else the one of the package's own checkout,
/// which is built once.
struct Tool {
    let program: URL
    /// Where the executables of the package are built, its folder or another one.
    private let folders: [String]

    init(_ context: PluginContext) throws {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { URL(filePath: String($0)) }
        let scratch = (0..<3).reduce(context.pluginWorkDirectoryURL) { folder, _ in folder.deletingLastPathComponent() }
        folders = [context.package.directoryURL, scratch].map { $0.resolvingSymlinksInPath().path + "/" }
        func installed(_ name: String) -> URL? {
            path.map { $0.appending(path: name) }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
        }
        if let found = installed("launchguard") {
            program = found
            return
        }
        guard let swift = installed("swift"), let checkout = Self.checkout(of: context.package) else { throw Problem("neither launchguard nor swift is in PATH") }
        let build = context.pluginWorkDirectoryURL.appending(path: "tools")
        program = build.appending(path: "release/launchguard")
        Diagnostics.remark("building launchguard, which takes some minutes the first time")
        let command = [
            "build", "--quiet", "--package-path", checkout.appending(path: "Tools").path, "--scratch-path", build.path, "-c", "release", "--product", "launchguard",
        ]
        guard try Self.run(swift, command) == 0 else { throw Problem("launchguard could not be built") }
    }

    /// The package that this plugin is from.
    private static func checkout(of package: Package) -> URL? {
        package.displayName == "LaunchGuard" ? package.directoryURL : package.dependencies.lazy.compactMap { checkout(of: $0.package) }.first
    }

    static var stateHome: String {
        let environment = ProcessInfo.processInfo.environment
        return environment["STATE_DIRECTORY"] ?? environment["XDG_STATE_HOME"] ?? NSHomeDirectory() + "/.local/state"
    }

    /// The state directory whose newest run is the newest of these executables.
    func stateDirectory(of products: [String]) throws -> String? {
        let last = try runs(["list", "--json", "--no-symbols", "--lines", "1", Self.stateHome])
        let found = try last.flatMap { try runs(["inspect", "--json", "--no-symbols", $0.path]) }
        let own = found.filter { run in
            guard let executable = run.identity?.executable else { return false }
            return folders.contains { executable.hasPrefix($0) } && products.contains(URL(filePath: executable).lastPathComponent)
        }
        let newest = own.max { ($0.identity?.started ?? "") < ($1.identity?.started ?? "") }
        return newest.map { URL(filePath: $0.path).deletingLastPathComponent().deletingLastPathComponent().path }
    }

    /// What is asked of a line of JSON about a run.
    private struct Run: Decodable {
        struct Identity: Decodable {
            let executable: String?
            let started: String?
        }

        let path: String
        let identity: Identity?
    }

    /// Run the program, which writes where this plugin writes.
    func run(_ arguments: [String]) throws -> Int32 { try Self.run(program, arguments) }

    private static func run(_ program: URL, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The runs that the program prints.
    private func runs(_ arguments: [String]) throws -> [Run] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return output.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONDecoder().decode(Run.self, from: $0) }
    }
}
