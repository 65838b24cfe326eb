extension BugKey {
    /// The functions of the program that a key has.
    struct Frames {
        private let own: OwnCode

        init(_ report: RunReport) {
            own = OwnCode(report)
        }

        /// A function of the program on a stack, innermost first, inlined ones too.
        struct Call {
            var name: String
            var frame: Frame
            var symbol: Symbol
            /// Whether it only ends the program, or waits, for its caller.
            var isHelper: Bool
            /// Whether it waits by `await` for the call before it.
            var isAsync = false
        }

        /// Frames of an endless recursion that show the functions that recur.
        private static let recurring = 64
        private static let most = 5

        /// The functions of a key, in order, and the one whose place in it counts.
        private struct Chosen {
            var names: [String] = []
            var placed: Call?

            var lines: [String]? {
                guard !names.isEmpty else { return nil }
                return names.map { "frame \($0)" } + (placed?.frame.placeNumber.map { ["place \($0)"] } ?? [])
            }
        }

        /// Nil: the innermost function of the program has no name.
        func places(of crash: Crash) -> [String]? {
            if crash.kind == "fault.stack_overflow", let recurring = crash.stack.flatMap(recurring) { return recurring }
            return chosen(of: crash).lines
        }

        func places(of thread: ThreadState) -> [String]? { chosen(of: thread).lines }

        /// The call whose place in its function counts.
        func placed(in crash: Crash) -> Call? {
            // The text of an assertion is its place. Traps of Swift are calls in a debug build.
            ["fault.stack_overflow", "abort.assert"].contains(crash.kind) || crash.kind.hasPrefix("trap.") ? nil : chosen(of: crash).placed
        }

        /// A thread rests in a loop at any of several calls, but at one lock.
        func placed(in thread: ThreadState) -> Call? {
            let called = thread.stack?.frames.prefix { !own.isOwn($0) }.flatMap { $0.symbols ?? [] }
            return called?.contains { $0.name.contains("lock") } == true ? chosen(of: thread).placed : nil
        }

        private func chosen(of crash: Crash) -> Chosen {
            let isJump = ["fault.jump_bad", "fault.exec_nx"].contains(crash.kind)
            let ends = Self.ends(crash)
            return chosen(of: calls(of: crash.stack?.frames.dropFirst(isJump ? 1 : 0) ?? [], crash.asyncCallers) { ends && ($0.isNoReturn || FunctionName.endsProgram($1)) })
        }

        private static func ends(_ crash: Crash) -> Bool { !crash.kind.hasPrefix("fault.") }

        /// The frames whose functions may be helpers.
        func ending(of crash: Crash) -> [Frame] {
            Self.ends(crash) ? Array((crash.stack?.frames ?? []).lazy.filter { own.isOwn($0) }.prefix(Self.most)) : []
        }

        private func chosen(of thread: ThreadState) -> Chosen {
            chosen(of: calls(of: thread.stack?.frames[...] ?? [], thread.asyncCallers) { FunctionName.waits($1) })
        }

        /// The innermost function that is no helper, the helpers before it, and what waits for it.
        private func chosen(of calls: [Call]) -> Chosen {
            var chosen = Chosen()
            for (index, call) in calls.enumerated() {
                if !chosen.names.contains(call.name) { chosen.names.append(call.name) }
                if !call.isAsync { chosen.placed = call }
                guard !call.isHelper || chosen.names.count == Self.most else { continue }
                if index + 1 < calls.count, calls[index + 1].isAsync, !chosen.names.contains(calls[index + 1].name) { chosen.names.append(calls[index + 1].name) }
                break
            }
            return chosen
        }

        private func calls(of frames: ArraySlice<Frame>, _ chains: [AsyncChain], _ isHelper: (Symbol, String) -> Bool) -> [Call] {
            var calls: [Call] = []
            // The library's function that a function of the program called.
            var called: String?
            for (index, frame) in zip(frames.indices, frames) {
                guard let functions = own.functions(in: frame) else {
                    if calls.isEmpty { return [] }
                    continue
                }
                for (symbol, name) in functions {
                    let wraps = called.map { FunctionName.wraps(name, $0) } ?? false
                    calls.append(Call(name: name, frame: frame, symbol: symbol, isHelper: wraps || isHelper(symbol, name)))
                    called = nil
                }
                if functions.isEmpty { called = frame.symbols?.last?.name ?? called }
                for caller in chains.first(where: { Int($0.number) == index })?.callers ?? [] {
                    calls += (own.functions(in: caller) ?? []).map { Call(name: $1, frame: caller, symbol: $0, isHelper: isHelper($0, $1), isAsync: true) }
                }
                if calls.count > 64 { break }
            }
            return calls
        }

        /// The functions of an endless recursion, in no order of their own; nil: none recurs.
        private func recurring(in stack: Stack) -> [String]? {
            var counts: [String: Int] = [:]
            for frame in stack.frames.dropFirst().prefix(Self.recurring) {
                for (_, name) in own.functions(in: frame) ?? [] { counts[name, default: 0] += 1 }
            }
            let names = counts.filter { $0.value > 1 }.keys.sorted().prefix(Self.most)
            return names.isEmpty ? nil : names.map { "frame \($0)" }
        }
    }
}

extension OwnCode {
    /// The program's own functions of a frame, the innermost inlined one first, by normalised
    /// names; nil: code of the program without symbols.
    fileprivate func functions(in frame: Frame) -> [(Symbol, String)]? {
        guard frame.isSignalHandlerCall != true, let path = frame.module, isOwnModule(path) else { return [] }
        guard let symbols = frame.symbols, !symbols.isEmpty else { return nil }
        return symbols.indices.filter { !symbols[$0].isCommon && !RuntimeNames.has(symbols[$0]) }.map { index in
            (symbols[index], FunctionName.normalised(symbols[index], in: index + 1 < symbols.count ? symbols[index + 1] : nil))
        }
    }
}
