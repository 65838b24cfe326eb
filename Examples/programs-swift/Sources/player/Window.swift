import LaunchGuard

/// The screen of the user. A test reads it, too.
@MainActor
final class Window {
    private let userAgrees: Bool
    private(set) var lines: [String] = []

    init(userAgrees: Bool) { self.userAgrees = userAgrees }

    func say(_ line: String) {
        lines.append(line)
        print(line)
    }

    /// Asks the user, where the launch waits for the answer.
    func show(_ status: Launch.Status, of launch: Launch) {
        guard status == .awaitingRepair else { return }
        say("reset the library? \(userAgrees ? "yes" : "no")")
        if userAgrees { launch.repair() } else { launch.skip() }
    }
}
