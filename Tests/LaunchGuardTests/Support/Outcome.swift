import LaunchGuard

extension Launch.Outcome {
    /// For tests: anything but ``launched`` fails the test.
    func get() throws(LaunchGuardError) {
        if let problem { throw problem }
    }
}
