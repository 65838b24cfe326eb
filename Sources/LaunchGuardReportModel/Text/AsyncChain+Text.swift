extension AsyncCallee {
    /// The asynchronous callers, whose numbers go on after those of the stack.
    func writeAsyncCallers(of stack: Stack, to writer: inout TextWriter, indent: String = "") {
        for piece in asyncPieces(of: stack) {
            switch piece {
            case .frame(let frame, let number):
                for line in frame.descriptions {
                    writer.add(indent)
                    writer.add("#\(number)", width: String(stack.total).count + 3)
                    writer.line("[async] \(frame.address) \(line)")
                }
            case .gap(let words): writer.line(indent + "    … \(words) …", .dim)
            }
        }
        if let asyncLoss { writer.line(indent + "    \(asyncLoss)", .yellow) }
    }

    /// The asynchronous callers of a stack as a person reads them.
    func asyncPieces(of stack: Stack) -> [Stack.Piece] {
        var pieces: [Stack.Piece] = []
        var number = stack.total
        for chain in asyncCallers {
            let callee = stack.number(of: chain).map { "#\($0)" } ?? chain.frame.descriptions.last ?? "\(chain.frame.address)"
            pieces.append(.gap("the functions that await \(callee)"))
            for caller in chain.callers {
                pieces.append(.frame(caller, number))
                number += 1
            }
            if chain.isTruncated { pieces.append(.gap("further functions are not stored")) }
        }
        return pieces
    }

    /// Chains that are not there; nil: none.
    var asyncLoss: String? {
        asyncChainsOmitted.map { "\(UInt64($0).counting("frame", "frames")) may have asynchronous callers that found no room in the record" }
    }
}

extension Stack {
    /// The number of the frame of a chain in this walk; nil: the walk does not have it.
    fileprivate func number(of chain: AsyncChain) -> UInt64? {
        if method == .dwarf { return UInt64(chain.number) }
        return frames.prefix(innermost).firstIndex { $0.address == chain.frame.address }.map(UInt64.init)
    }
}
