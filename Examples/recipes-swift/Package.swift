// swift-tools-version: 6.2
import PackageDescription

// Two programs whose `@main` another package brings: a server of Hummingbird and a command of
// ArgumentParser.
let package = Package(
    name: "recipes",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "LaunchGuard", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "greeter",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "LaunchGuard", package: "LaunchGuard"),
                .product(name: "LaunchGuardService", package: "LaunchGuard"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "wordcount",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "LaunchGuard", package: "LaunchGuard"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
