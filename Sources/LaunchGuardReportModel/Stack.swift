/// One walk of the crashed thread's stack, the innermost frame first.
public struct Stack: Codable, Hashable, Sendable {
    public var method: Method
    public var frames: [Frame]
    /// How many of `frames` are the innermost; the others come after a gap of `omitted` frames.
    public var innermost: Int
    public var omitted: UInt64
    /// All frames walked, those of the gap included.
    public var total: UInt64
    /// Whether the walk ended early, and why.
    public var isTruncated: Bool
    public var reason: String?
    /// Frames of code without unwind tables, found by frame pointer in the middle of a walk by
    /// unwind tables; nil: none.
    public var assumedFrames: UInt32?
    /// The unwind tables with which the tool walked again, over the stored registers and stack
    /// bytes, for example ".eh_frame and .debug_frame"; nil: it is the handler's walk.
    public var walkedAgainWith: String?

    public init(
        method: Method, frames: [Frame], innermost: Int? = nil, omitted: UInt64 = 0, isTruncated: Bool = false, reason: String? = nil
    ) {
        self.method = method
        self.frames = frames
        self.innermost = innermost ?? frames.count
        self.omitted = omitted
        self.total = UInt64(frames.count) + omitted
        self.isTruncated = isTruncated
        self.reason = reason
    }

    /// The innermost frames, which are in each better walk too: those that unwind tables alone
    /// found.
    public var certainFrames: ArraySlice<Frame> {
        guard method == .dwarf, assumedFrames == nil else { return frames.prefix(1) }
        // The last frame of a walk that broke off may be no return address.
        return frames.dropLast(isTruncated && frames.count > 1 ? 1 : 0)
    }

    /// How the stack was walked.
    public enum Method: String, Codable, Sendable {
        case framePointers = "frame-pointers"
        case dwarf
        /// The functions of a task that waits, which are on no stack.
        case async
        /// One that this version does not know.
        case unknown
    }
}

/// One frame of a stack.
public struct Frame: Codable, Hashable, Sendable {
    public var address: Address
    /// The instruction to look up: `address` itself, or the byte before a return address.
    public var lookup: Address
    /// Path of the module, and the address within its file.
    public var module: String?
    public var fileAddress: Address?
    /// True: no function's call, but the kernel's of a signal handler. The next frame was
    /// interrupted, and its own address is looked up.
    public var isSignalHandlerCall: Bool?
    /// True: the next frame called another function, which ended by a jump to this one and has no
    /// frame.
    public var isTailCalled: Bool?
    /// The functions at this address, the innermost inlined one first and the function proper last;
    /// nil: not looked up, or nothing found.
    public var symbols: [Symbol]?
    /// The number of this place, from 1 in the order of the source, where its function has several
    /// that do the same: calls of one function, or accesses of memory. For the bug key; in no JSON.
    public var placeNumber: Int?

    private enum CodingKeys: CodingKey {
        case address, lookup, module, fileAddress, isSignalHandlerCall, isTailCalled, symbols
    }

    public init(
        address: Address, lookup: Address, module: String? = nil, fileAddress: Address? = nil, isSignalHandlerCall: Bool? = nil, symbols: [Symbol]? = nil
    ) {
        self.address = address
        self.lookup = lookup
        self.module = module
        self.fileAddress = fileAddress
        self.isSignalHandlerCall = isSignalHandlerCall
        self.symbols = symbols
    }
}

/// A function, and where in its source.
public struct Symbol: Codable, Hashable, Sendable {
    /// The name as a person writes it.
    public var name: String
    /// The name as the linker knows it, when it is another one.
    public var mangledName: String?
    /// Bytes from the start of the function; nil for inlined functions.
    public var offset: UInt64?
    public var file: String?
    public var line: Int?
    public var column: Int?
    /// Whether the function was inlined into the next one.
    public var isInlined: Bool
    /// Whether its source declares that it never returns. For the bug key; in no JSON.
    public var isNoReturn = false

    private enum CodingKeys: CodingKey {
        case name, mangledName, offset, file, line, column, isInlined
    }

    public init(
        name: String, mangledName: String? = nil, offset: UInt64? = nil, file: String? = nil, line: Int? = nil, column: Int? = nil,
        isInlined: Bool = false
    ) {
        self.name = name
        self.mangledName = mangledName
        self.offset = offset
        self.file = file
        self.line = line
        self.column = column
        self.isInlined = isInlined
    }

    /// Where a sentence has room for it, the name of a function as it is; a longer one has "…" for
    /// what stands in brackets, or for its middle.
    public static func inShort(_ name: String) -> String { name.functionInShort }
}

/// A loaded module: the executable or a library.
public struct RunModule: Codable, Hashable, Sendable {
    public var path: String
    public var buildID: String?
    /// The addresses that its segments cover.
    public var start: Address
    public var end: Address
    /// Address in the process minus address in the file.
    public var bias: Address

    public init(path: String, buildID: String?, start: Address, end: Address, bias: Address) {
        self.path = path
        self.buildID = buildID
        self.start = start
        self.end = end
        self.bias = bias
    }

    public func contains(_ address: Address) -> Bool {
        start <= address && address < end
    }

    /// The last part of the path.
    public var name: String { path.lastPathPart }
}

extension String {
    var lastPathPart: String {
        split(separator: "/").last.map(String.init) ?? self
    }
}
