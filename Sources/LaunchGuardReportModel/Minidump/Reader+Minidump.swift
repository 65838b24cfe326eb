internal import CLaunchGuard

/// Why a run does not become a minidump.
public enum MinidumpProblem: Error {
    /// There is no stack: the program neither crashed nor hung.
    case noStack
    /// Neither registers nor the system's words say which processor it was, or minidumps have no
    /// form for it here.
    case unknownProcessor
    /// Larger than 4 GiB.
    case tooLarge
    case unreadable(ReportError)
}

extension Reader {
    /// The run as a minidump, of its crash, or else of the stacks that were taken last while it
    /// lived, and whether a part of the file is damaged. Redacted values are not in the minidump.
    /// docs/EXPORT.md lists its contents. C: `lg_reader_minidump()`.
    ///
    /// - Parameter symbolicate: Adds the symbols of a run, without which no asynchronous caller is
    ///   known.
    public func minidump(_ symbolicate: (RunReport) -> RunReport = { $0 }) throws(MinidumpProblem) -> (bytes: [UInt8], isDamaged: Bool) {
        let report: RunReport
        do throws(ReportError) {
            report = try run()
        } catch {
            throw .unreadable(error)
        }
        let callers = report.asyncCallees.isEmpty ? nil : symbolicate(report).asyncCallersText
        return (try minidump(callers), report.isDamaged)
    }

    private func minidump(_ asyncCallers: String?) throws(MinidumpProblem) -> [UInt8] {
        let bytes = Bytes()
        let status = withExtendedLifetime(bytes) {
            guard let asyncCallers else { return unsafe write(nil, to: bytes) }
            return unsafe asyncCallers.withCString { unsafe write($0, to: bytes) }
        }
        switch status {
        case LG_OK: return bytes.bytes
        case LG_ERR_NOT_FOUND: throw .noStack
        case LG_ERR_UNSUPPORTED: throw .unknownProcessor
        case LG_ERR_LIMIT: throw .tooLarge
        default: throw .unreadable(CLibrary.error(status, path: path))
        }
    }

    private func write(_ asyncCallers: UnsafePointer<CChar>?, to bytes: Bytes) -> lg_status {
        var options = unsafe lg_minidump_options()
        unsafe options.size = UInt32(MemoryLayout<lg_minidump_options>.size)
        unsafe options.async_callers = asyncCallers
        return unsafe lg_reader_minidump(
            handle, &options,
            { more, size, user in
                guard let more = unsafe more, let user = unsafe user else { return 1 }
                let bytes = unsafe Unmanaged<Bytes>.fromOpaque(user).takeUnretainedValue()
                unsafe bytes.bytes.append(contentsOf: UnsafeRawBufferPointer(start: more, count: size))
                return 0
            },
            Unmanaged.passUnretained(bytes).toOpaque())
    }

    private final class Bytes {
        var bytes: [UInt8] = []
    }
}

extension RunReport {
    /// The stacks that were taken last while the program lived.
    var lastSnapshot: Snapshot? {
        snapshots?.filter { $0.threads?.isEmpty == false }.max { $0.takenNanoseconds < $1.takenNanoseconds }
    }

    /// The threads of a minidump that may have asynchronous callers, the one that matters first.
    fileprivate var asyncCallees: [(thread: String, callee: any AsyncCallee, stack: Stack)] {
        let threads = crash == nil ? lastSnapshot.map { [$0.parts.first].compactMap(\.self) + $0.parts.others } : recordedCrash?.threads
        let crashed = crash.flatMap { crash in crash.stack.map { (crash.threadWords, crash as any AsyncCallee, $0) } }
        let others = (threads ?? []).compactMap { thread in thread.stack.map { (thread.cpuTime.thread, thread as any AsyncCallee, $0) } }
        return ([crashed].compactMap(\.self) + others).filter { $0.1.asyncChains != nil }
    }

    /// The asynchronous callers in the words of the text; nil: none are known.
    fileprivate var asyncCallersText: String? {
        var writer = TextWriter()
        for (thread, callee, stack) in asyncCallees where !callee.asyncCallers.isEmpty {
            writer.line(thread)
            callee.writeAsyncCallers(of: stack, to: &writer)
        }
        return writer.text.isEmpty ? nil : String(writer.text.dropLast())
    }
}
