extension Delivery {
    /// Configuration of ``Delivery/start(_:)``.
    public struct Configuration: Sendable {
        /// The server.
        public var target: Target
        /// Whether reports may leave the machine; `nil` for what is stored, and at first withheld.
        public var consent: Consent? = nil
        /// A file that only this user may read, with headers for each request; absolute path.
        public var credentialFile: String? = nil
        /// Certificates that the server's is checked against; absolute path; `nil` for those of the
        /// system.
        public var certificateFile: String? = nil
        /// The Ed25519 public key of the vendor, whose hints are followed: 32 bytes in hexadecimal
        /// digits or base64; `nil`: hints are ignored.
        public var hintKey: String? = nil
        /// The ends that make a run a report, at least one.
        public var ends: Set<Report.End> = [.crash, .hang, .oom, .killed]
        /// Whether an unknown end makes a run a report where a launch was under way.
        public var reportsUnknownInLaunch = true
        /// Reports in the spool, 1 to 4096.
        public var keepReports = 64
        /// Bytes of the reports in the spool, at least 65536.
        public var keepBytes = 16 << 20
        /// Bytes of requests and answers in a day, at least 8192.
        public var dailyBytes = 64 << 20
        /// Whether only the first part of each report is sent, of at most 4 KiB.
        public var isBrief = false
        /// Whether paths are sent with the names of home directories, and with them the user's
        /// number and the boot's id.
        public var keepsHomeDirectories = false
        /// Whether plain servers and those of minidumps get compressed bodies, too.
        public var compressesAlways = false
        /// Whether a Sentry-compatible server gets the numbers of runs, once a day, for its release
        /// health.
        public var sendsReleaseHealth = false
        /// The agent's program; absolute path; `nil` for the places that the C header names.
        public var agentPath: String? = nil

        /// The configuration of a program, with the defaults above.
        public init(target: Target, consent: Consent? = nil) {
            self.target = target
            self.consent = consent
        }
    }

    /// A server, with its address; `nil` where the credential file has the address.
    public enum Target: Hashable, Sendable {
        /// Each report is the JSON body of a POST.
        case http(String?)
        /// Sentry envelopes.
        case sentry(dsn: String?)
        /// OTLP log records in JSON, for example for "https://collector:4318/v1/logs".
        case otlp(String?)
        /// A minidump in a form, as servers of Breakpad and Crashpad take it. The bytes of the
        /// stacks leave with it.
        case minidump(String?)
    }

    /// Whether reports may leave the machine.
    public enum Consent: String, Sendable, Codable, CaseIterable {
        /// Reports may leave the machine.
        case given
        /// Reports may not leave; unsent ones are deleted.
        case withheld
    }

    /// Result of ``Delivery/wait(_:)``. Later versions may have more cases, so a `switch` needs an
    /// `@unknown default`.
    public enum WaitResult: String, Sendable, Codable, CaseIterable {
        /// There was nothing to send.
        case nothing
        /// All that was to be sent has had its answer.
        case delivered
        /// The time has passed, and a living agent goes on.
        case handedOver
        /// The time has passed, and no agent lives: reports stay owed.
        case timeout
    }
}
