extension BugKey {
    /// The functions of the program that a key has.
    struct Frames {
        private let own: OwnCode

        init(_ report: RunReport) {
            own = OwnCode(report)
        }

        /// A function of the program on a stack, innermost first, inlined ones too.
        private struct Call {
            var name: String
            /// Whether it only ends the program, or waits, for its caller.
            var isHelper: Bool
            /// Whether it waits by `await` for the call before it.
            var isAsync = false
        }

        /// Frames of an endless recursion that show the functions that recur.
        private static let recurring = 64
        private static let most = 5

        /// Nil: the innermost function of the program has no name.
        func places(of crash: Crash) -> [String]? {
            guard let stack = crash.stack else { return nil }
            let isJump = ["fault.jump_bad", "fault.exec_nx"].contains(crash.kind)
            if crash.kind == "fault.stack_overflow", let recurring = recurring(in: stack) { return recurring }
            let ends = !crash.kind.hasPrefix("fault.")
            return places(of: calls(of: stack.frames.dropFirst(isJump ? 1 : 0), crash.asyncCallers) { ends && FunctionName.endsProgram($0) })
        }

        func places(of thread: ThreadState) -> [String]? {
            guard let stack = thread.stack else { return nil }
            return places(of: calls(of: stack.frames[...], thread.asyncCallers, isHelper: FunctionName.waits))
        }

        /// The innermost function that is no helper, the helpers before it, and what waits for it.
        private func places(of calls: [Call]) -> [String]? {
            var places: [String] = []
            for (index, call) in calls.enumerated() {
                if !places.contains(call.name) { places.append(call.name) }
                guard !call.isHelper || places.count == Self.most else { continue }
                if index + 1 < calls.count, calls[index + 1].isAsync, !places.contains(calls[index + 1].name) { places.append(calls[index + 1].name) }
                break
            }
            return places.isEmpty ? nil : places.map { "frame \($0)" }
        }

        private func calls(of frames: ArraySlice<Frame>, _ chains: [AsyncChain], isHelper: (String) -> Bool) -> [Call] {
            var calls: [Call] = []
            // The library's function that a function of the program called.
            var called: String?
            for (index, frame) in zip(frames.indices, frames) {
                guard let functions = own.functions(in: frame) else {
                    if calls.isEmpty { return [] }
                    continue
                }
                for function in functions {
                    calls.append(Call(name: function, isHelper: isHelper(function) || called.map { FunctionName.wraps(function, $0) } ?? false))
                    called = nil
                }
                if functions.isEmpty { called = frame.symbols?.last?.name ?? called }
                for caller in chains.first(where: { Int($0.number) == index })?.callers ?? [] {
                    calls += (own.functions(in: caller) ?? []).map { Call(name: $0, isHelper: isHelper($0), isAsync: true) }
                }
                if calls.count > 64 { break }
            }
            return calls
        }

        /// The functions of an endless recursion, in no order of their own; nil: none recurs.
        private func recurring(in stack: Stack) -> [String]? {
            var counts: [String: Int] = [:]
            for frame in stack.frames.dropFirst().prefix(Self.recurring) {
                for function in own.functions(in: frame) ?? [] { counts[function, default: 0] += 1 }
            }
            let names = counts.filter { $0.value > 1 }.keys.sorted().prefix(Self.most)
            return names.isEmpty ? nil : names.map { "frame \($0)" }
        }
    }
}

extension OwnCode {
    /// The program's own functions of a frame, the innermost inlined one first, by normalised
    /// names; nil: code of the program without symbols.
    fileprivate func functions(in frame: Frame) -> [String]? {
        guard frame.isSignalHandlerCall != true, let path = frame.module, isOwnModule(path) else { return [] }
        guard let symbols = frame.symbols, !symbols.isEmpty else { return nil }
        return symbols.filter { !$0.isCommon && !RuntimeNames.has($0) }.map(FunctionName.normalised)
    }
}
