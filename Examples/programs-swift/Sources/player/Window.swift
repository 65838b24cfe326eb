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
    func ask(_ hold: consuming Launch.Hold) {
        say("\(hold.reason.repair ?? "go on")? \(userAgrees ? "yes" : "no")")
        if userAgrees { hold.repair() } else { hold.skip() }
    }
}
