// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built the same way. Warnings are errors in this project's own builds, and
/// never in those of a package that depends on it.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
] + (Context.environment["LAUNCHGUARD_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

// The libraries for programs. The tool, the examples and the benchmarks are the package in Tools.
let package = Package(
    name: "LaunchGuard",
    // Closures are tasks on executors of their own (TaskExecutor), with locks of Synchronization. A
    // package for older systems names a product with `condition: .when(platforms: [.linux])`.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LaunchGuard", targets: ["LaunchGuard"]),
        .library(name: "CLaunchGuard", targets: ["CLaunchGuard", "CLaunchGuardGuards"]),
        .library(name: "LaunchGuardReports", targets: ["LaunchGuardReports"]),
        .library(name: "LaunchGuardGuards", targets: ["LaunchGuardGuards"]),
        .library(name: "LaunchGuardObservers", targets: ["LaunchGuardObservers"]),
        .library(name: "LaunchGuardLogging", targets: ["LaunchGuardLogging"]),
        .library(name: "LaunchGuardService", targets: ["LaunchGuardService"]),
        .library(name: "LaunchGuardMetrics", targets: ["LaunchGuardMetrics"]),
        .plugin(name: "crash-report", targets: ["crash-report"]),
        // For the package in Tools alone.
        .library(name: "_ReportModel", targets: ["LaunchGuardReportModel", "LaunchGuardPlatform"]),
        .library(name: "_TestSupport", targets: ["TestSupport"]),
    ],
    traits: [
        .trait(name: "SwiftLog", description: "LaunchGuardLogging: a handler for swift-log that writes breadcrumbs."),
        .trait(name: "ServiceLifecycle", description: "LaunchGuardService: a member of a service group of swift-service-lifecycle."),
        .trait(name: "Metrics", description: "LaunchGuardMetrics: launches, crashes and repairs for the backend of swift-metrics."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        // The C interface. On Linux it leads to the core, elsewhere to a shell that protects
        // nothing.
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

        // The typed guards of C, in the same two parts. Their headers are those of CLaunchGuard.
        .target(
            name: "CLaunchGuardGuards",
            dependencies: ["CLaunchGuard", .target(name: "CLaunchGuardGuardsCore", condition: .when(platforms: [.linux]))],
            path: ".",
            sources: ["Sources/CLaunchGuardGuardsShell"],
            publicHeadersPath: "include",
            cSettings: [.define("LG_CORE", .when(platforms: [.linux]))]
        ),
        .target(
            name: "CLaunchGuardGuardsCore",
            dependencies: ["CLaunchGuardCore"],
            path: ".",
            sources: ["Sources/CLaunchGuardGuards"],
            publicHeadersPath: "include",
            cSettings: [.headerSearchPath("Sources/CLaunchGuard"), .headerSearchPath("Sources/CLaunchGuardGuards"), .define("_GNU_SOURCE")]
        ),

        // The thin shell: no Foundation, no package dependency.
        .target(name: "LaunchGuard", dependencies: ["CLaunchGuard", "CThread", "LaunchGuardPlatform"], swiftSettings: strict),
        .systemLibrary(name: "CThread"),
        .target(name: "LaunchGuardPlatform", swiftSettings: strict),

        // Guards: operations and types that survive a fault. Observers stand on Foundation.
        .target(name: "LaunchGuardGuards", dependencies: ["LaunchGuard", "CLaunchGuard", "CCallSite", "CThread", "LaunchGuardPlatform"], swiftSettings: strict),
        .target(name: "LaunchGuardObservers", dependencies: ["LaunchGuardGuards", "CCallSite"], swiftSettings: strict),
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
        .target(
            name: "LaunchGuardMetrics",
            dependencies: ["LaunchGuard", .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"]))],
            swiftSettings: strict
        ),

        // Reading reports: what programs ask for, and below it the whole model, with its texts, its
        // page and its exports.
        .target(name: "LaunchGuardReports", dependencies: ["LaunchGuardReportModel"], swiftSettings: strict),
        .target(name: "LaunchGuardReportModel", dependencies: ["CLaunchGuard", "LaunchGuardPlatform"], swiftSettings: strict),

        // `swift package crash-report`: it runs the tool of the package in Tools.
        .plugin(name: "crash-report", capability: .command(intent: .custom(verb: "crash-report", description: "Show the last crash of an executable of this package."))),

        // Waits and random numbers for the tests.
        .target(name: "TestSupport", path: "Tests/Support/TestSupport", swiftSettings: strict),
        // Run by LaunchGuardTests: a test runs in a program whose main thread is not its own.
        .executableTarget(name: "main-actor-probe", dependencies: ["LaunchGuard", "LaunchGuardReportModel", "CThread", "TestSupport"], path: "Tests/main-actor-probe", swiftSettings: strict),
        .testTarget(
            name: "LaunchGuardTests",
            dependencies: ["LaunchGuard", "LaunchGuardReports", "LaunchGuardReportModel", "TestSupport", "main-actor-probe"],
            swiftSettings: strict
        ),
        .executableTarget(name: "confinement-probe", dependencies: ["LaunchGuard", "LaunchGuardGuards", "TestSupport"], path: "Tests/confinement-probe", swiftSettings: strict),
        .testTarget(
            name: "LaunchGuardGuardsTests",
            dependencies: ["LaunchGuard", "LaunchGuardGuards", "LaunchGuardObservers", "LaunchGuardReportModel", "TestSupport", "confinement-probe"],
            swiftSettings: strict
        ),
    ]
)
