/// Functions that wait for the function of a frame by `await`, and so are on no stack.
///
/// The crashed process found the chain by its memory alone. Its functions are callers only where
/// the function of the frame is asynchronous, which its symbol tells.
public struct AsyncChain: Codable, Hashable, Sendable {
    /// The frame that the chain belongs to, and its number in the walk by unwind tables.
    public var frame: Frame
    public var number: UInt32
    /// The nearest caller first; the address is where it goes on once the callee has ended.
    public var callers: [Frame]
    /// Whether there were more callers than the record had room for.
    public var isTruncated: Bool
    /// Whether the function of the frame is asynchronous; nil: not known, as the frame has no
    /// symbols.
    public var isAsync: Bool?

    public init(frame: Frame, number: UInt32, callers: [Frame], isTruncated: Bool = false, isAsync: Bool? = nil) {
        self.frame = frame
        self.number = number
        self.callers = callers
        self.isTruncated = isTruncated
        self.isAsync = isAsync
    }
}

/// A thread whose functions others may wait for by `await`.
public protocol AsyncCallee {
    /// Chains of callers, as far as memory tells, and the number of those that found no room in the
    /// record.
    var asyncChains: [AsyncChain]? { get set }
    var asyncChainsOmitted: UInt32? { get set }
}

extension AsyncCallee {
    /// The chains that are known to be callers, in the order of their frames.
    public var asyncCallers: [AsyncChain] { (asyncChains ?? []).filter { $0.isAsync == true } }
}

extension Crash: AsyncCallee {}
extension ThreadState: AsyncCallee {}
