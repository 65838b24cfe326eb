import LaunchGuardReports

/// One run in a format.
struct Export {
    let bytes: [UInt8]
    let isDamaged: Bool

    /// A run that a format cannot carry.
    struct Impossible: Error, CustomStringConvertible {
        var path: String
        var problem: MinidumpProblem

        var description: String {
            switch problem {
            case .noStack: "\(path): a minidump is of stacks, and the run left none; --format json or text says how it ended"
            case .unknownProcessor: "\(path): the file does not say that the processor was x86-64 or AArch64; --format json or text has what is there"
            case .tooLarge: "\(path): the minidump would be larger than 4 GiB; --format json or text has the rest"
            case .unreadable(let error): "\(error)"
            }
        }
    }

    init(_ source: String, _ format: ExportCommand.Format, _ symbols: SymbolOptions, isColored: Bool) throws {
        let reader = try Reader(path: source)
        switch format {
        case .json, .text:
            let run = try reader.run()
            let shown = ShownRun(run, symbols)
            var writer = isColored ? Output.makeWriter() : TextWriter()
            if format == .text { shown.write(to: &writer) }
            bytes = format == .text ? writer.bytes : Array(shown.json.utf8)
            isDamaged = run.isDamaged
        case .minidump:
            do throws(MinidumpProblem) {
                (bytes, isDamaged) = try reader.minidump()
            } catch .unreadable(let error) {
                throw error
            } catch {
                throw Impossible(path: source, problem: error)
            }
        }
    }
}
