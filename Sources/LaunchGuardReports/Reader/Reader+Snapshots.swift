// What a run file holds of a program that lived: hearts, deadlines, and the stacks that were taken
// when one of them did not come in time, or memory ran short.
internal import CLaunchGuard

extension Reader {
    func addPulse(to report: inout RunReport, _ problems: inout Problems) {
        let hearts = problems.list("pulse", limit: 256) { index, heart in
            unsafe lg_reader_heart(handle, index, &heart)
        } as: { Heart(&$0) }
        report.hearts = hearts.isEmpty ? nil : hearts
        let deadlines = problems.list("pulse", limit: 256) { index, deadline in
            unsafe lg_reader_deadline(handle, index, &deadline)
        } as: { Deadline(&$0) }
        report.deadlines = deadlines.isEmpty ? nil : deadlines
    }

    func addSnapshots(to report: inout RunReport, _ problems: inout Problems) {
        let kinds = [(LG_SNAPSHOT_HANG, Snapshot.Kind.hang), (LG_SNAPSHOT_DEADLINE, .deadline), (LG_SNAPSHOT_MEMORY, .memory)]
        let snapshots = kinds.compactMap { snapshot($0.0, $0.1, report, &problems) }
        report.snapshots = snapshots.isEmpty ? nil : snapshots
    }

    private func snapshot(_ number: lg_snapshot_kind, _ kind: Snapshot.Kind, _ report: RunReport, _ problems: inout Problems) -> Snapshot? {
        let part = "snapshot of \(kind == .memory ? "" : "a ")\(kind.rawValue)"
        var info = lg_snapshot_info()
        guard problems.isUsable(unsafe lg_reader_snapshot(handle, number, &info), part) else { return nil }
        let calls = ThreadCalls { thread, index, register in
            unsafe lg_reader_snapshot_register(self.handle, number, thread, index, &register)
        } stack: { thread, walk in
            unsafe lg_reader_snapshot_stack(self.handle, number, thread, &walk)
        } frame: { thread, index, address in
            unsafe lg_reader_snapshot_frame(self.handle, number, thread, index, &address)
        }
        var threads: [ThreadState] = []
        for index in 0..<info.stored {
            var thread = lg_thread_info()
            guard problems.isUsable(unsafe lg_reader_snapshot_thread(handle, number, index, &thread), part) else { continue }
            threads.append(state(index, &thread, calls, report, &problems))
        }
        var snapshot = Snapshot(
            kind: kind, threadID: info.tid, name: string(&info.name).nonEmpty, sequence: info.sequence, sinceNanoseconds: info.since_ns,
            takenNanoseconds: info.taken_ns, resolvedNanoseconds: info.resolved_ns.nonZero, isComplete: info.complete != 0 && info.given_up == 0)
        snapshot.threads = threads.isEmpty ? nil : threads
        if info.complete != 0 {
            let problem = info.error < 0 ? "the threads could not be asked" : info.error == 0 ? nil : CLibrary.systemMessage(info.error)
            snapshot.threadCounts = ThreadCounts(
                listed: info.listed, captured: info.captured, masked: info.masked, silent: info.silent, omitted: info.omitted, listProblem: problem,
                waitedNanoseconds: info.took_ns)
        }
        return snapshot
    }
}

extension Heart {
    fileprivate init(_ info: inout lg_heart_info) {
        self.init(
            threadID: info.tid, name: string(&info.name).nonEmpty, isPaused: info.paused != 0, lastBeatNanoseconds: info.beat_ns,
            hangSinceNanoseconds: info.hang_ns.nonZero)
    }
}

extension Deadline {
    fileprivate init(_ info: inout lg_deadline_info) {
        self.init(
            name: string(&info.name), threadID: info.tid, limitMilliseconds: info.limit_ms, begunNanoseconds: info.begun_ns,
            nearNanoseconds: info.near_ns.nonZero)
    }
}
