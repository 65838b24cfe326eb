extension GuardRecord {
    /// How many frames of a site are written.
    private static let framesShown = 5

    /// In a few words.
    var summary: String { "\(events.counting("event", "events")), \(survived) survived" }

    /// The sites, each with the first frames of its first event.
    func write(to writer: inout TextWriter, from start: UInt64) {
        guard events > 0 || sites?.isEmpty == false else { return }
        writer.heading("guards: \(summary)")
        for site in sites ?? [] { site.write(to: &writer, from: start, frames: Self.framesShown) }
    }
}

extension GuardRecord.Site {
    fileprivate func write(to writer: inout TextWriter, from start: UInt64, frames limit: Int) {
        func since(_ time: UInt64) -> String { (time >= start ? time - start : 0).durationText }
        writer.add("  ")
        writer.styled(.bold) { $0.add(guardClass.map { "\($0.rawValue): " } ?? "other sites: ") }
        if let text { writer.add(text) } else if guardClass != nil, isDamaged != true { writer.add("its first event is not described", .dim) }
        for (index, field) in (fields ?? []).enumerated() { field.write(to: &writer, isFirst: index == 0) }
        if isDamaged == true { writer.add("damaged", .red) }
        writer.endLine()
        let times = [firstNanoseconds.map { "first after \(since($0))" }, lastNanoseconds.map { "last after \(since($0))" }].compactMap(\.self)
        let thread = threadID.map { "first in thread \($0)" + (threadName.map { " \"\($0)\"" } ?? "") }
        let counts = "\(events.counting("event", "events")), \(survived) survived" + (action.map { ", last \($0.rawValue)" } ?? ", one under way")
        writer.line("    " + ([counts] + times + [thread].compactMap(\.self)).joined(separator: "; "), action == .survived ? .plain : .yellow)
        let shown = frames?.isEmpty == false ? Array(frames!.prefix(limit)) : [place].compactMap(\.self)
        for (index, frame) in shown.enumerated() {
            for description in frame.descriptions { writer.line("    #\(index)  \(frame.address) \(description)") }
        }
        if let frames, frames.count > shown.count { writer.line("    … \(frames.count - shown.count) more frames", .dim) }
    }
}
