internal import LaunchGuardReportModel

extension RunReport {
    /// An entry of the ring log.
    public struct Breadcrumb: Hashable, Sendable {
        /// When it was written.
        public let time: Time?
        /// The thread that wrote it.
        public let threadID: Int32
        /// Its importance.
        public let level: Level
        /// The part of the program that wrote it, for example "network".
        public let category: String?
        /// What it says.
        public let text: String
        /// In the order in which they were given.
        public let fields: [Field]

        init(_ entry: LaunchGuardReportModel.Breadcrumb) {
            time = entry.time.map(Time.init)
            threadID = entry.threadID
            level = Level(rawValue: entry.level.rawValue)
            category = entry.category
            text = entry.text
            fields = (entry.fields ?? []).map { Field(key: $0.key, value: $0.value) }
        }
    }

    /// A field of a breadcrumb.
    public struct Field: Hashable, Sendable {
        /// Its name.
        public let key: String
        /// Its value; `nil` where it is redacted.
        public let value: String?
    }

    /// The importance of a breadcrumb: a named one, or a number between or beyond them.
    public struct Level: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// The larger, the more important.
        public let rawValue: UInt32

        /// Every step of the program.
        public static let trace = Level(rawValue: 10)
        /// For those who look for a defect.
        public static let debug = Level(rawValue: 20)
        /// What a program does as usual.
        public static let info = Level(rawValue: 30)
        /// What is usual and worth a look.
        public static let notice = Level(rawValue: 40)
        /// What may lead to an error.
        public static let warning = Level(rawValue: 50)
        /// Something failed.
        public static let error = Level(rawValue: 60)
        /// The program cannot do without what failed.
        public static let critical = Level(rawValue: 70)

        /// The name, or the number.
        public var description: String { LaunchGuardReportModel.Level(rawValue: rawValue).description }

        /// Whether the first one is less important.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The last value of a key that the program named.
    public struct Annotation: Hashable, Sendable {
        /// Its name.
        public let key: String
        /// Its value; `nil` where it is redacted.
        public let value: String?
        /// When it was set; `nil` where it is redacted.
        public let time: Time?

        init(_ annotation: LaunchGuardReportModel.Annotation) {
            key = annotation.key
            value = annotation.value
            time = annotation.time.map(Time.init)
        }
    }
}
