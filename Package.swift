// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built the same way.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// It misuses memory: that is its purpose.
let unsafeOnPurpose: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Whether another package fetches this one. SwiftPM then has no folder for it at first ("/"), and
/// later one below "checkouts". There nobody builds the tool, and SwiftPM would fetch what the tool
/// needs all the same.
let isFetched = Context.packageDirectory == "/" || Context.packageDirectory.contains("/checkouts/")

let package = Package(
    name: "LaunchGuard",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "LaunchGuard", targets: ["LaunchGuard"]),
        .library(name: "CLaunchGuard", targets: ["CLaunchGuard"]),
        .library(name: "LaunchGuardReports", targets: ["LaunchGuardReports"]),
        .library(name: "LaunchGuardGuards", targets: ["LaunchGuardGuards"]),
        .library(name: "LaunchGuardLogging", targets: ["LaunchGuardLogging"]),
        .library(name: "LaunchGuardService", targets: ["LaunchGuardService"]),
        .executable(name: "launchguard", targets: ["launchguard"]),
        .executable(name: "launchguard-fleet", targets: ["launchguard-fleet"]),
        .executable(name: "launchguard-faults", targets: ["launchguard-faults"]),
    ],
    traits: [
        .trait(name: "SwiftLog", description: "LaunchGuardLogging: a handler for swift-log that writes breadcrumbs."),
        .trait(name: "ServiceLifecycle", description: "LaunchGuardService: a member of a service group of swift-service-lifecycle."),
        .trait(name: "FoundationGuards", description: "LaunchGuardGuards: what stands on Foundation."),
        .trait(name: "Tool", description: "The tool launchguard, whose dependency is fetched for no other product."),
        .trait(name: "Fleet", description: "launchguard-fleet, the commands of the tool that keep a database, and GRDB with them.", enabledTraits: ["Tool"]),
        .default(enabledTraits: isFetched ? [] : ["Tool", "Fleet", "FoundationGuards"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The C interface. On Linux the core is behind it, elsewhere a shell that protects nothing.
        .target(
            name: "CLaunchGuard",
            dependencies: [.target(name: "CLaunchGuardCore", condition: .when(platforms: [.linux]))],
            path: ".",
            sources: ["Sources/CLaunchGuardShell"],
            publicHeadersPath: "include",
            cSettings: [.define("LG_CORE", .when(platforms: [.linux]))]
        ),
        // The core: links libc only, and loads libunwind where a program asks for its walk.
        .target(
            name: "CLaunchGuardCore",
            path: ".",
            sources: ["Sources/CLaunchGuard"],
            publicHeadersPath: "include",
            cSettings: [
                .headerSearchPath("Sources/CLaunchGuard"),
                .define("_GNU_SOURCE"),
                .define("LG_INTERPOSE_PTHREAD_CREATE"),
                .define("LG_LIBUNWIND"),
            ]
        ),

        // The thin shell: no Foundation, no package dependency.
        .target(name: "LaunchGuard", dependencies: ["CLaunchGuard", "CThread", "LaunchGuardPlatform"], swiftSettings: strict),
        .systemLibrary(name: "CThread"),
        .target(name: "LaunchGuardPlatform", swiftSettings: strict),

        // Guards: operations and types that survive a fault. Foundation only behind its trait.
        .target(name: "LaunchGuardGuards", dependencies: ["LaunchGuard", "CLaunchGuard", "CCallSite", "CThread", "LaunchGuardPlatform"], swiftSettings: strict),
        .systemLibrary(name: "CCallSite"),

        // For other packages of the ecosystem; each names its trait while that is off.
        .target(
            name: "LaunchGuardLogging",
            dependencies: ["LaunchGuard", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"]))],
            swiftSettings: strict
        ),
        .target(
            name: "LaunchGuardService",
            dependencies: [
                "LaunchGuard",
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
            ],
            swiftSettings: strict
        ),

        // Reading reports: model, symbols, tool.
        .target(name: "LaunchGuardReports", dependencies: ["CLaunchGuard", "LaunchGuardPlatform"], swiftSettings: strict),
        .target(name: "LaunchGuardSymbols", dependencies: ["LaunchGuardPlatform", "LaunchGuardReports"], swiftSettings: strict),
        .systemLibrary(name: "CProcess"),
        // What the programs of the tool share.
        .target(
            name: "ToolParts",
            dependencies: [
                "LaunchGuardPlatform",
                "LaunchGuardReports",
                "LaunchGuardSymbols",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "launchguard",
            dependencies: [
                "CProcess",
                "LaunchGuard",
                "LaunchGuardPlatform",
                "LaunchGuardReports",
                "LaunchGuardSymbols",
                "ToolParts",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "launchguard-fleet",
            dependencies: [
                "LaunchGuardPlatform",
                "LaunchGuardReports",
                "ToolParts",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Fleet"])),
            ],
            swiftSettings: strict
        ),

        // The catalogue of ways to die, as a program. C++ is in there and nowhere else.
        .target(
            name: "CLaunchGuardFaults",
            dependencies: ["CLaunchGuard"],
            exclude: ["CMakeLists.txt", "main.c"],
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("m")]
        ),
        .executableTarget(
            name: "launchguard-faults",
            dependencies: ["CLaunchGuardFaults", "CLaunchGuard"],
            swiftSettings: unsafeOnPurpose
        ),

        // The example programs of the README, of the articles and of `make demo`.
        .executableTarget(
            name: "minimal-swift",
            dependencies: ["LaunchGuard"],
            path: "Examples/minimal-swift",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "watched-swift",
            dependencies: ["LaunchGuard"],
            path: "Examples/watched-swift",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "first-hour-swift",
            dependencies: ["LaunchGuard"],
            path: "Examples/first-hour-swift",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "desktop-swift",
            dependencies: ["LaunchGuard"],
            path: "Examples/desktop-swift",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "reader-swift",
            dependencies: ["LaunchGuardReports"],
            path: "Examples/reader-swift",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "plugin-host-swift",
            dependencies: ["LaunchGuard", "LaunchGuardGuards"],
            path: "Examples/plugin-host-swift",
            swiftSettings: strict
        ),
        .systemLibrary(
            name: "CSQLite",
            path: "Examples/CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .executableTarget(
            name: "notes-swift",
            dependencies: ["LaunchGuard", "CSQLite"],
            path: "Examples/notes-swift",
            swiftSettings: strict
        ),

        .executableTarget(name: "bench-log-swift", dependencies: ["LaunchGuard"], path: "Benchmarks/log-swift", swiftSettings: strict),
        .executableTarget(
            name: "bench-guards-swift",
            dependencies: ["LaunchGuard", "LaunchGuardGuards"],
            path: "Benchmarks/guards-swift",
            swiftSettings: strict
        ),

        // Run by LaunchGuardTests: a test runs in a program whose main thread is not its own.
        .executableTarget(name: "main-actor-probe", dependencies: ["LaunchGuard", "LaunchGuardReports", "CThread", "TestSupport"], path: "Tests/MainActorProbe", swiftSettings: strict),
        // What the tests wait with, and what they draw.
        .target(name: "TestSupport", path: "Tests/Support/Swift", swiftSettings: strict),
        .testTarget(
            name: "LaunchGuardTests",
            dependencies: ["LaunchGuard", "LaunchGuardReports", "LaunchGuardSymbols", "TestSupport", "main-actor-probe"],
            swiftSettings: strict
        ),
        .executableTarget(name: "confinement-probe", dependencies: ["LaunchGuard", "LaunchGuardGuards", "TestSupport"], path: "Tests/ConfinementProbe", swiftSettings: strict),
        .testTarget(
            name: "LaunchGuardGuardsTests",
            dependencies: ["LaunchGuard", "LaunchGuardGuards", "LaunchGuardReports", "TestSupport", "confinement-probe"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LaunchGuardReportsTests",
            dependencies: ["LaunchGuardReports", "LaunchGuardSymbols", "CLaunchGuard", "TestSupport"],
            swiftSettings: strict
        ),
    ],
    cxxLanguageStandard: .cxx17
)
