// swift-tools-version: 6.2
import PackageDescription

// Three programs as a user of LaunchGuard writes them, in a package of their own.
let package = Package(
    name: "Programs",
    dependencies: [
        .package(name: "LaunchGuard", path: "../..", traits: ["SwiftLog", "ServiceLifecycle"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "echo-server",
            dependencies: [
                .product(name: "LaunchGuard", package: "LaunchGuard"),
                .product(name: "LaunchGuardLogging", package: "LaunchGuard"),
                .product(name: "LaunchGuardService", package: "LaunchGuard"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(name: "indexer", dependencies: [.product(name: "LaunchGuard", package: "LaunchGuard")]),
        .executableTarget(name: "player", dependencies: [.product(name: "LaunchGuard", package: "LaunchGuard")]),
        .testTarget(name: "PlayerTests", dependencies: ["player", .product(name: "LaunchGuard", package: "LaunchGuard")]),
    ],
    swiftLanguageModes: [.v6]
)
