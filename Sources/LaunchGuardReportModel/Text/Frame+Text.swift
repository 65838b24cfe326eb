extension Stack {
    /// One line for each frame and inlined function, in a form that can be pasted into an issue
    /// tracker. Frames that repeat, as those of a recursion do, are written once.
    func write(to writer: inout TextWriter, indent: String = "") {
        for piece in pieces {
            switch piece {
            case .frame(let frame, let number):
                for line in frame.descriptions {
                    writer.add(indent)
                    writer.add("#\(number)", width: String(total).count + 3)
                    writer.line("\(mark)\(frame.address) \(line)")
                }
            case .gap(let words): writer.line(indent + "    … \(words) …", .dim)
            }
        }
        if let endText { writer.line(indent + "    \(endText)", .yellow) }
    }

    /// Before the address of a frame that is on no stack.
    private var mark: String { method == .async ? "[async] " : "" }

    /// A line of a stack: a frame with its number, or what stands for frames that are not shown.
    enum Piece {
        case frame(Frame, UInt64)
        case gap(String)
    }

    /// The stack as a person reads it.
    var pieces: [Piece] {
        var pieces: [Piece] = []
        var index = 0
        while index < frames.count {
            if index == innermost, omitted > 0 { pieces.append(.gap("\(omitted) frames are not stored")) }
            let (length, count) = repetition(from: index, to: index < innermost ? min(innermost, frames.count) : frames.count)
            for index in index..<index + length {
                pieces.append(.frame(frames[index], number(of: index)))
                if frames[index].isTailCalled == true { pieces.append(.gap("tail calls left out")) }
            }
            index += length * count
            if count > 1 {
                let what = length == 1 ? "this frame repeats" : "these \(length) frames repeat"
                pieces.append(.gap("\(what) to #\(number(of: index - 1))"))
            }
        }
        return pieces
    }

    /// Why the walk ended early; nil: it did not.
    var endText: String? { isTruncated ? "the walk ended early: \(reason ?? "no reason is stored")" : nil }

    /// The number of a stored frame among all frames. A file may claim that any number is omitted.
    private func number(of index: Int) -> UInt64 {
        UInt64(index) &+ (index >= innermost ? omitted : 0)
    }

    /// How many frames from `start` on repeat, and how often they stand there; below four times is
    /// no repetition.
    private func repetition(from start: Int, to end: Int) -> (length: Int, count: Int) {
        for length in 1...16 where start + 4 * length <= end {
            var next = start + length
            while next + length <= end, (0..<length).allSatisfy({ frames[start + $0].address == frames[next + $0].address }) {
                next += length
            }
            if next - start >= 4 * length { return (length, (next - start) / length) }
        }
        return (1, 1)
    }
}

extension Frame {
    static let signalHandlerCalled = "signal handler called"

    /// Where the frame is, in words: one text for each function at the address, the innermost
    /// first.
    package var descriptions: [String] {
        if isSignalHandlerCall == true { return [Self.signalHandlerCalled] }
        guard let symbols, !symbols.isEmpty else {
            guard let module, let fileAddress else { return ["in ??"] }
            let offset = Address(fileAddress.value &+ address.value &- lookup.value)
            return ["in \(module.lastPathPart) + \(offset.short)"]
        }
        return symbols.map { $0.words() + (module.map { " of \($0.lastPathPart)" } ?? "") }
    }
}

extension Symbol {
    /// The function and where in its source, for example "in load + 12 at track.c:3".
    ///
    /// - Parameter file: what to write for the path of the source.
    public func words(file: (String) -> String = { $0 }) -> String {
        var text = "in \(name)"
        if isInlined { text += " (inlined)" }
        if let offset { text += " + \(offset)" }
        if let location { text += " at \(file(location))" }
        return text
    }

    /// File and line, as far as they are known.
    var location: String? {
        guard let file else { return nil }
        return line.map { "\(file):\($0)" } ?? file
    }
}
