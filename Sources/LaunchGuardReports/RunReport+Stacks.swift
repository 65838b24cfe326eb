internal import LaunchGuardReportModel

extension RunReport {
    /// A thread, and where it was.
    public struct Thread: Hashable, Sendable {
        /// The kernel's number of the thread.
        public let id: Int32
        /// Its name, if it has one.
        public let name: String?
        /// Its stack; `nil` where the record has none.
        public let stack: Stack?

        init(id: Int32, name: String?, stack: Stack?) {
            self.id = id
            self.name = name
            self.stack = stack
        }

        init(_ thread: ThreadState) {
            self.init(id: thread.threadID, name: thread.name, stack: thread.stack.map(Stack.init))
        }
    }

    /// A stack.
    public struct Stack: Hashable, Sendable {
        /// The innermost frame first.
        public let frames: [Frame]
        /// Frames in the middle for which there was no room.
        public let omitted: UInt64
        /// The reason for which the walk ended early; `nil`: the stack is whole.
        public let truncation: String?

        init(_ stack: LaunchGuardReportModel.Stack) {
            frames = stack.frames.map(Frame.init)
            omitted = stack.omitted
            truncation = stack.isTruncated ? stack.reason ?? "" : nil
        }
    }

    /// A frame of a stack.
    public struct Frame: Hashable, Sendable, CustomStringConvertible {
        /// The address in the process.
        public let address: UInt64
        /// Path of the module.
        public let module: String?
        /// The address in the file of the module, as debug information counts.
        public let fileAddress: UInt64?
        /// The functions, inlined ones before the one that has them; empty: not looked up.
        public let functions: [Function]
        /// Where the frame is, in words, for example "in load + 12 at track.c:3 of player".
        public let description: String

        init(_ frame: LaunchGuardReportModel.Frame) {
            address = frame.address.value
            module = frame.module
            fileAddress = frame.fileAddress?.value
            functions = (frame.symbols ?? []).map(Function.init)
            description = frame.descriptions.joined(separator: ", ")
        }
    }

    /// A function of a frame.
    public struct Function: Hashable, Sendable {
        /// The name as a person writes it.
        public let name: String
        /// Path of the source.
        public let file: String?
        /// Line in the source, from 1.
        public let line: Int?
        /// Whether it was inlined into the next one.
        public let isInlined: Bool

        init(_ symbol: Symbol) {
            name = symbol.name
            file = symbol.file
            line = symbol.line
            isInlined = symbol.isInlined
        }
    }

    /// A loaded file: the executable or a library.
    public struct Module: Hashable, Sendable {
        /// The file.
        public let path: String
        /// In hexadecimal digits.
        public let buildID: String?
        /// The addresses that its segments cover.
        public let addresses: Range<UInt64>
        /// What to take from an address in the process for the address in the file.
        public let bias: UInt64

        init(_ module: RunModule) {
            path = module.path
            buildID = module.buildID
            addresses = module.start.value..<max(module.start, module.end).value
            bias = module.bias.value
        }
    }
}
