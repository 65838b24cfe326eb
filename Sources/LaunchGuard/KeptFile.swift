/// One path of which there is a copy, made by ``Launch/keep(_:)``.
public struct KeptFile: Hashable, Sendable, Codable {
    /// What was at the path when it was kept.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case file, directory
        /// Nothing was there.
        case absent
    }

    /// Absolute, without links.
    public let path: String
    /// What was there.
    public let kind: Kind
    /// The size of a file.
    public let bytes: UInt64
    /// When it was copied.
    public let copied: WallInstant
}
