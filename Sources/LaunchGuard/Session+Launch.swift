import Synchronization

extension Session {
    struct Launches {
        var byName: [String: Launch] = [:]
        /// Unprotected ones, whose names others have.
        var others: [Launch] = []
    }

    var preparedLaunches: [Launch] { launches.withLock { Array($0.byName.values) + $0.others } }

    /// Make the launch of one context. LaunchGuard counts nothing before ``Launch/begin()``.
    ///
    /// A value that makes no sense does not stop the program. The result is then an unprotected
    /// launch, whose tasks run and which counts and repairs nothing; its ``Launch/problem`` names
    /// the value. A second call with the same name and the same values returns the launch of the
    /// first call. With another value, or with a closure, which cannot be compared, the result is
    /// an unprotected launch whose problem says so, and the first one stays as it is: keep the
    /// launch, or get it by ``launch(_:)``.
    ///
    /// - Parameter name: of the context, 1 to 63 bytes.
    public func launch(_ name: String, _ configuration: Launch.Configuration) -> Launch {
        launches.withLock { launches in
            guard let first = launches.byName[name] else { return add(name, configuration, to: &launches) }
            guard let difference = first.configuration.difference(to: configuration) else { return first }
            let mistake = LaunchGuardError(.option, "the session has a launch \"\(name)\" already: \(difference)")
            let other = Launch(name, configuration, nil, mistake, of: core)
            launches.others.append(other)
            return other
        }
    }

    /// The launch of that name, whatever its configuration; where there is none, it is made with
    /// the usual one.
    ///
    /// - Parameter name: of the context, 1 to 63 bytes.
    public func launch(_ name: String) -> Launch {
        launches.withLock { $0.byName[name] ?? add(name, .init(), to: &$0) }
    }

    private func add(_ name: String, _ configuration: Launch.Configuration, to launches: inout Launches) -> Launch {
        var options: LaunchOptions?
        var mistake: LaunchGuardError?
        do throws(LaunchGuardError) { options = try LaunchOptions(name: name, configuration) } catch { mistake = error }
        let launch = Launch(name, configuration, options, mistake, of: core)
        launches.byName[name] = launch
        return launch
    }
}
