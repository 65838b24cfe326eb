// swift-tools-version: 6.2
import PackageDescription

/// A program that misuses memory: that is its purpose.
let unsafeOnPurpose: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Every other Swift target is built the same way.
let strict = unsafeOnPurpose + [.strictMemorySafety()]

let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// A library of LaunchGuard.
func library(_ name: String) -> Target.Dependency { .product(name: name, package: "LaunchGuard") }

/// The model of a report with all that the tools show, for this package alone.
let reportModel: Target.Dependency = .product(name: "_ReportModel", package: "LaunchGuard")

func example(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Examples/\(name)", swiftSettings: strict)
}

func benchmark(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Benchmarks/\(name)", swiftSettings: strict)
}

// The programs of LaunchGuard that are written in Swift, with what only they need.
let package = Package(
    name: "LaunchGuardTools",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "launchguard", targets: ["launchguard"]),
        .executable(name: "launchguard-run", targets: ["launchguard-run"]),
        .executable(name: "launchguard-fleet", targets: ["launchguard-fleet"]),
        .executable(name: "launchguard-faults", targets: ["launchguard-faults"]),
    ],
    dependencies: [
        // With its name, whatever the folder of the checkout is called.
        .package(name: "LaunchGuard", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The tool, and the program of its commands that keep a database.
        .executableTarget(
            name: "launchguard",
            dependencies: ["CProcess", "LaunchGuardSymbols", "ToolParts", "ToolRun", library("LaunchGuard"), reportModel, arguments],
            swiftSettings: strict
        ),
        // What is installed as `launchguard`: `run`, and the way to the tool. Nothing is loaded for
        // it as it is shipped; the libraries are those that a static Foundation needs.
        .executableTarget(
            name: "launchguard-run", dependencies: ["ToolBase", "ToolRun", reportModel], swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-executable", "-l_FoundationCollections", "-l_FoundationCShims"], .when(platforms: [.linux], configuration: .release))]
        ),
        .executableTarget(
            name: "launchguard-fleet",
            dependencies: ["ToolParts", library("CLaunchGuard"), reportModel, arguments, .product(name: "GRDB", package: "GRDB.swift")],
            resources: [.embedInCode("postgresql.sql")],
            swiftSettings: strict
        ),
        .target(name: "ToolBase", dependencies: [reportModel, arguments], swiftSettings: strict),
        .target(name: "ToolParts", dependencies: ["ToolBase", "LaunchGuardSymbols", reportModel, arguments], swiftSettings: strict),
        .target(name: "ToolRun", dependencies: ["CProcess", "ToolBase", library("LaunchGuard"), reportModel, arguments], swiftSettings: strict),
        .target(name: "LaunchGuardSymbols", dependencies: ["CStackWalk", reportModel], swiftSettings: strict),
        .target(name: "CStackWalk"),
        .systemLibrary(name: "CProcess"),

        // The catalogue of ways to die, as a program. C++ is in there and nowhere else.
        .target(
            name: "CLaunchGuardFaults",
            dependencies: [library("CLaunchGuard")],
            exclude: ["CMakeLists.txt", "main.c"],
            cSettings: [.define("_GNU_SOURCE"), .define("LGF_SEES_NO_MASKS")],
            linkerSettings: [.linkedLibrary("m")]
        ),
        .executableTarget(name: "launchguard-faults", dependencies: ["CLaunchGuardFaults", library("CLaunchGuard")], swiftSettings: unsafeOnPurpose),

        // The example programs of the README, of the articles and of `make demo`.
        example("minimal-swift", library("LaunchGuard")),
        example("watched-swift", library("LaunchGuard")),
        example("first-hour-swift", library("LaunchGuard")),
        example("desktop-swift", library("LaunchGuard")),
        example("reader-swift", library("LaunchGuardReports")),
        example("plugin-host-swift", library("LaunchGuard"), library("LaunchGuardGuards"), library("LaunchGuardObservers")),
        example("notes-swift", library("LaunchGuard"), "CSQLite"),
        .systemLibrary(name: "CSQLite", path: "Examples/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        benchmark("bench-log-swift", library("LaunchGuard")),
        benchmark("bench-guards-swift", library("LaunchGuard"), library("LaunchGuardGuards"), library("LaunchGuardObservers")),

        // The library and the tool read the same files.
        .testTarget(
            name: "LaunchGuardReportsTests",
            dependencies: ["LaunchGuardSymbols", "ToolBase", "ToolParts", "ToolRun", library("LaunchGuardReports"), reportModel, library("CLaunchGuard"), library("_TestSupport")],
            swiftSettings: strict
        ),
    ],
    cxxLanguageStandard: .cxx17
)
