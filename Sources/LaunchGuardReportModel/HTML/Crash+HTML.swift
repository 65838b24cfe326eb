/// A crash and its threads on a page.
extension Crash {
    /// The messages, the place of the faulting address, and the unknown parts of the signal.
    func writeMessages(to page: inout HTMLWriter) {
        for message in messages ?? [] { message.write(to: &page) }
        if let address, let addressPlace { page.element("p", [:], "Address \(address.short) is \(addressPlace).") }
        page.warnings(doubts)
    }

    func writeThread(to page: inout HTMLWriter, _ own: OwnCode) {
        page.section("thread", threadWords.capitalizedFirst + (isRequestedDump ? " took the signal" : " crashed")) { writeStack(to: &$0, own) }
    }

    /// The thread's stack, and what else may be one.
    func writeStack(to page: inout HTMLWriter, _ own: OwnCode) {
        guard let stack else {
            return page.warnings(["No stack was stored: the record ends after the stage \(stages.last?.rawValue ?? "none")"])
        }
        page.element("p", ["class": "note"], explanation(of: stack))
        page.warnings([stack.words(against: storedStack)].compactMap(\.self).map(\.capitalizedFirst))
        if let stackDisagreement { page.warnings(["The two walks disagree: \(stackDisagreement)"]) }
        stack.write(to: &page, own)
        writeAsyncCallers(of: stack, to: &page, own)
        guard let possibleFrames, !possibleFrames.isEmpty else { return }
        page.folded("\(UInt64(possibleFrames.count).counting("possible frame", "possible frames")) (stack scan)") {
            $0.warnings(["Words of its stack that point into code; some may be callers, others are left over"])
            $0.element("ul", ["class": "frames"]) { page in
                for frame in possibleFrames { frame.write(to: &page, mark: "?", own) }
            }
        }
    }

    /// The other threads, those with the same stack as one. `crashed`: the thread at whose crash
    /// they were taken, where that is not the one above.
    func writeOtherThreads(to page: inout HTMLWriter, _ own: OwnCode, at crashed: Int32? = nil) {
        let threads = self.threads ?? []
        let missing = missingThreads
        if threads.isEmpty, threadCounts == nil || missing.isEmpty { return }
        page.section("threads", "Other threads" + (crashed.map { ", when thread \($0) crashed" } ?? "")) {
            $0.markup(HTMLScript.foldButtons)
            if let hottest = CPUTime.hottest(of: [CPUTime(thread: threadWords, nanoseconds: cpuNanoseconds ?? 0)] + threads.map(\.cpuTime)) {
                $0.element("p", ["class": "note"], hottest.capitalizedFirst)
            }
            ThreadState.write(threads, to: &$0, own)
            $0.warnings(missing.map(\.capitalizedFirst))
        }
    }

    func writeNotes(to page: inout HTMLWriter) {
        guard let notes else { return }
        page.section("notes", "Also happened while the record was written") { $0.warnings(notes.map(\.words)) }
    }

    func writeRegisters(to page: inout HTMLWriter) {
        guard let registers else { return }
        page.section("registers", "Registers") {
            $0.folded("Registers of thread \(threadID)") {
                $0.element("dl", ["class": "registers"]) {
                    for register in registers {
                        $0.element("div") {
                            $0.element("dt", [:], register.name)
                            $0.element("dd", [:], "\(register.value)")
                        }
                    }
                }
            }
        }
    }
}

extension AsyncCallee {
    fileprivate func writeAsyncCallers(of stack: Stack, to page: inout HTMLWriter, _ own: OwnCode) {
        let pieces = asyncPieces(of: stack)
        if !pieces.isEmpty {
            page.element("ol", ["class": "frames"]) {
                for piece in pieces {
                    switch piece {
                    case .frame(let frame, let number): frame.write(to: &$0, mark: "#\(number) [async]", own)
                    case .gap(let words): $0.element("li", ["class": "gap"], "… \(words) …")
                    }
                }
            }
        }
        if let asyncLoss { page.warnings([asyncLoss]) }
    }
}

extension ThreadState {
    /// Threads, those with the same stack folded into one.
    static func write(_ threads: [ThreadState], to page: inout HTMLWriter, _ own: OwnCode, role: String? = nil, isOpen: Bool = false) {
        for group in groups(of: threads) {
            let stack = group[0].stack
            page.folded(isOpen: isOpen) {
                $0.element("span", ["class": "who"], title(of: group).capitalizedFirst + (role.map { ", which \($0)" } ?? ""))
                if let place = own.place(in: stack) { $0.element("code", [:], place.functionInShort) }
            } _: {
                $0.warnings(group[0].remarks.map(\.capitalizedFirst))
                guard let stack else { return }
                $0.element("p", ["class": "note"], stack.summary)
                $0.warnings([stack.words(against: group[0].storedStack)].compactMap(\.self).map(\.capitalizedFirst))
                stack.write(to: &$0, own)
                group[0].writeAsyncCallers(of: stack, to: &$0, own)
            }
        }
    }
}

extension Snapshot {
    /// The stacks, that of the thread that matters first and open.
    func write(to page: inout HTMLWriter, _ own: OwnCode, number: Int) {
        page.section("snapshot-\(number)", title.capitalizedFirst) {
            if let length { $0.element("p", ["class": "note"], "It was over after \(length.durationText)") }
            let parts = self.parts
            $0.warnings(parts.remarks.map(\.capitalizedFirst))
            if let first = parts.first { ThreadState.write([first], to: &$0, own, role: role, isOpen: true) }
            if let hottest = CPUTime.hottest(of: (threads ?? []).map(\.cpuTime)) { $0.element("p", ["class": "note"], hottest.capitalizedFirst) }
            ThreadState.write(parts.others, to: &$0, own)
            $0.warnings(missing.map(\.capitalizedFirst))
        }
    }
}

extension Stack {
    /// The frames as a list. The program's own frames stand out, and several others in a row are
    /// folded.
    func write(to page: inout HTMLWriter, _ own: OwnCode) {
        let hasOwn = frames.contains(where: own.isOwn)
        page.element("ol", ["class": "frames"]) {
            var others: [(frame: Frame, number: UInt64)] = []
            for piece in pieces {
                if case .frame(let frame, let number) = piece, hasOwn, !own.isOwn(frame) {
                    others.append((frame, number))
                    continue
                }
                write(others, to: &$0, own)
                others = []
                switch piece {
                case .frame(let frame, let number): frame.write(to: &$0, mark: mark(number), own)
                case .gap(let words): $0.element("li", ["class": "gap"], "… \(words) …")
                }
            }
            write(others, to: &$0, own)
        }
        if let endText { page.warnings([endText.capitalizedFirst]) }
    }

    private func mark(_ number: UInt64) -> String { "#\(number)" + (method == .async ? " [async]" : "") }

    /// Frames in a row that are not the program's own.
    private func write(_ others: [(frame: Frame, number: UInt64)], to page: inout HTMLWriter, _ own: OwnCode) {
        func write(to page: inout HTMLWriter) {
            for (frame, number) in others { frame.write(to: &page, mark: mark(number), own) }
        }
        guard others.count > Self.mostUnfolded else { return write(to: &page) }
        var modules: [String] = []
        for case let module? in others.map(\.frame.module?.lastPathPart) where !modules.contains(module) { modules.append(module) }
        let title = UInt64(others.count).counting("frame", "frames") + (modules.isEmpty ? "" : " of \(modules.joined(separator: ", "))")
        page.element("li", ["class": "others"]) {
            $0.folded(title) { $0.element("ol", [:], write) }
        }
        page.endLine()
    }

    private static let mostUnfolded = 1
}

extension Frame {
    /// One item for each function at the address.
    func write(to page: inout HTMLWriter, mark: String, _ own: OwnCode) {
        let names = isSignalHandlerCall == true ? [Self.signalHandlerCalled] : symbols?.map(\.name) ?? []
        let common = symbols?.map(\.isCommon) ?? []
        let isOwn = own.isOwn(self)
        for (index, description) in descriptions.enumerated() {
            let words = isSignalHandlerCall == true ? description[...] : description.dropFirst("in ".count)
            let name = names.indices.contains(index) ? names[index] : words.prefix { $0 != " " }.description
            let short = name.functionInShort
            let isCommon = common.indices.contains(index) && common[index]
            page.element("li", isOwn && !isCommon ? ["class": "own"] : [:]) {
                $0.element("span", [:], mark)
                $0.element("code", [:], "\(address)")
                $0.element("p") {
                    $0.element("b", [:], short)
                    $0.text(String(words.dropFirst(name.count)))
                }
                if short != name { $0.folded("The whole name") { $0.element("p", [:], name) } }
            }
            page.endLine()
        }
    }
}

extension Message {
    func write(to page: inout HTMLWriter) {
        page.element("figure", ["class": "message"]) {
            $0.element("figcaption", [:], label)
            $0.element("pre") {
                $0.lines(demangled ?? text)
                if isCut { $0.text(" …") }
            }
        }
    }
}
