import CLaunchGuard
import LaunchGuardReportModel
import Testing

/// The drawings of the ladder and of the timeline.
@Suite struct LedgerDrawingTests {
    private static let day: UInt64 = 86_400_000_000_000
    /// Half a day after the newest series of the golden ledger that was made by hand.
    private static let now = Timestamp(nanoseconds: 1_767_225_600_000_000_000 + 2 * day + day / 2)

    private func text(_ ledger: LedgerReport, now: Timestamp = Self.now, limit: Int? = nil, isColored: Bool = false) -> String {
        var writer = TextWriter(isColored: isColored)
        ledger.write(to: &writer, runLimit: limit, now: now)
        return writer.text
    }

    /// The ledger that was made by hand, with one context; no runs.
    private func one(_ change: (inout LedgerContext) -> Void) throws -> [Substring] {
        var ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        ledger.contexts.removeLast()
        ledger.timeline = []
        ledger.contexts[0].suspects = []
        ledger.contexts[0].lastTask = nil
        ledger.contexts[0].skips = 0
        change(&ledger.contexts[0])
        return text(ledger).split(separator: "\n")
    }

    @Test func theGoldenLedger() throws {
        var ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        ledger.path = "ledger.lg"
        #expect(text(ledger) == """
            org.example.ledgers 1.1
              ledger.lg, generation 3

            context main  normal
              mode      normal
              streak    streak 1 (report after 1, repair after 2), reported 3
                        17 counted ends since the last good launch
                        1 crash soon after the launch (repair after 2)
                        terminated in the task "open-documents": 21 times in a row
                        19 clean ends before the launch was finished; three are a good launch
                        unknown 2 (repair after 4)
                        the last end came in the task "open-documents"
                        the repair was put off 6 times
              ladder    the most disruptive repair on top; ▶ the next rung, ● attempts used, ○ left
                        ╞═ 3  delete-database             impact 90   ○       destructive, by consent
                        │     last series 2026-01-03T00:00:00Z, throttled until 2026-01-04T00:00:00Z
                    ▶   ╞═ 2  reset-settings              impact 50   ●○○     by consent, needs a restart
                        │     last series 2026-01-02T00:00:00Z, 5 of its attempts interrupted
                        ╞═ 1  clear-cache                 impact 10   passed
                        │     last series 2026-01-01T12:00:00Z
                        ╞═ 0  leave out the suspect task  impact 0    passed  built in
                        │     last series 2026-01-01T00:00:00Z
              suspects  "open-documents": 2 crashes, left out by the last launch
                        "check \\x1B[31m for updates": 1 crash
              totals    15 launches, 12 launch crashes, 13 repairs since the ledger was made

            context sync  normal
              mode      probation: a repair has just been made; one launch crash climbs the ladder at once
              streak    streak 0 (report after 1, repair after 2), reported 0
                        unknown 0 (repair after 4)
              ladder    none
              totals    15 launches, 0 launch crashes, 0 repairs since the ledger was made

            timeline, oldest run first
              run  started               lasted    end                             main    sync
              ── version 1.0 ──
              #1   2026-01-01T03:00:00Z  1.234 s   clean                           ·       ·
                   because the process passed through exit() and left the mark with the status
              #2   2026-01-01T06:00:00Z  2.469 s   crash SIGSEGV fault.null_write  ✗       ·
                   because the run file holds a crash record; in a module or a task of main
              #3   2026-01-01T09:00:00Z  3.703 s   crash SIGSEGV fault.null_write  r✗      ✗
                   because the run file holds a crash record
              #4   2026-01-01T12:00:00Z  4.938 s   crash SIGSEGV fault.null_write  r‖−xm✗  ·
                   because the run file holds a crash record
              #5   2026-01-01T15:00:00Z  6.172 s   clean                           ‖+·     ·
                   because the program called lg_stop()
              #6   2026-01-01T18:00:00Z  7.407 s   hang                            Sp‖e✗   ·
                   because the process was marked as hanging and left no other mark
              #7   2026-01-01T21:00:00Z  8.641 s   oom                             S✗      ·
                   because the process left no mark, and the kernel ended a process of the same cgroup for lack of memory meanwhile
              #8   2026-01-02T00:00:00Z  9.876 s   clean                           SH·     ·
                   because the process passed through exit() and left the mark with the status
              ── version 1.1 ──
              #9   2026-01-02T03:00:00Z  unknown   debugger                        ·       ·
                   because a debugger was attached at the crash
              #10  2026-01-02T06:00:00Z  12.345 s  unknown                         T·      tn✗
                   because the process was gone without any mark: killed, or ended without exit()
              #11  2026-01-02T09:00:00Z  13.580 s  terminated SIGTERM              ‖+↻·    ‖»·
                   because the program announced its restart
              #12  2026-01-02T12:00:00Z  14.814 s  killed SIGKILL                  ○       ·
                   because another process waited for this one and stored its status
              #13  2026-01-02T15:00:00Z  16.049 s  unknown                         ?·      ·
                   because evidence that this version does not know
              #14  2026-01-02T18:00:00Z  17.283 s  exit with status 3              ○       ○
                   because the process passed through exit() and left the mark with the status

              S in safe mode                      T a trial                           r reported
              p the program asked for protection  ‖ held                              H halted
              − a suspect task was left out       t a repair was throttled            n a repair was refused
              » the repair was put off            x a repair failed                   + repaired
              e the hold expired                  ↻ a repair asked for a restart      ? an event of a later version
              m ended during a repair             ✗ its end counted                   ○ not finished, did not count
              · finished, announced or not begun

            """)
    }

    @Test func eventsAreNamedByTheirBits() {
        let bits = [
            LG_EVENT_REPORTED, LG_EVENT_HELD, LG_EVENT_REPAIRED, LG_EVENT_REPAIR_FAILED, LG_EVENT_THROTTLED, LG_EVENT_REFUSED, LG_EVENT_SKIPPED,
            LG_EVENT_EXPIRED, LG_EVENT_PROTECTED, LG_EVENT_LEFT_OUT, LG_EVENT_SAFE, LG_EVENT_TRIAL, LG_EVENT_HALTED, LG_EVENT_RESTART,
            LG_EVENT_UPGRADED, LG_EVENT_OMITTED, LG_EVENT_DECIDED, LG_EVENT_HINT_LEAVE_OUT, LG_EVENT_HINT_REPAIR, LG_EVENT_HINT_SAFE_MODE,
            LG_EVENT_HINT_HOLD_BELOW,
        ]
        #expect(bits == (0..<21).map { UInt32(1) << $0 })
    }

    @Test func aHintIsShownAsWhatItIs() throws {
        let ledger = try Reader(path: Sample.golden("hint.lg")).ledger()
        let hint = try #require(ledger.hint)
        #expect((hint.serial, hint.kind, hint.context, hint.name) == (8, "hold-below", "main", "2.4"))
        let (before, after) = (Timestamp(nanoseconds: hint.expires.nanoseconds - 1), hint.expires)
        #expect(hint.isInForce(at: before) && !hint.isInForce(at: after) && hint.text(now: after) == nil)
        #expect(ledger.timeline.map { $0.events[0].events } == [[.hintLeaveOut, .hintRepair], [.hintSafeMode, .hintHoldBelow]])
        var writer = TextWriter()
        ledger.write(to: &writer, now: before)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.contains("hint 8 of the vendor for main, until \(after.secondsText): hold below the version \"2.4\""))
        #expect(text.contains("a hint of the vendor: a task was left out, held for a repair"))
        #expect(text.contains("h by a hint of the vendor"))
    }

    @Test func everythingOfTheGoldenLedgerIsInItsReport() throws {
        let ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        let main = ledger.contexts[0]
        #expect(main.mode == "normal" && !main.isHalted && !main.isDue && !main.isShadow && main.retryRuns == 10)
        #expect(main.ladder.map(\.impact) == [0, 10, 50, 90] && main.ladder.map(\.isBuiltIn) == [true, false, false, false])
        #expect(main.ladder.map(\.timeoutMilliseconds) == [30000, 30000, 30000, 30000])
        #expect(main.ladder[3].throttledUntil?.secondsText == "2026-01-04T00:00:00Z" && main.ladder[2].throttledUntil == nil)
        #expect(ledger.timeline[3].events == [.init(context: "main", events: [.reported, .held, .repairFailed, .leftOut])])
        #expect(ledger.timeline[3].repairing == ["main"] && ledger.timeline[1].attributed == ["main"])
        #expect(ledger.timeline[12].events[0].events.map(\.rawValue) == ["0x80000000"])
        #expect(ledger.timeline[10].events[0].events == [.held, .repaired, .restart])
        #expect(try JSONLine.value(from: JSONLine.text(ledger)) == ledger)
    }

    @Test(arguments: [
        ("safe", false, UInt32(3), UInt32(4), UInt32(1), UInt32(2), "safe mode: 3 of 4 good launches until the next try; 1 crash in safe mode in a row, it halts at 2"),
        ("safe", false, 0, 0, 0, 0, "safe mode: 0 of an unknown number of good launches until the next try; 0 crashes in safe mode in a row, it never halts"),
        ("safe", true, 0, 2, 2, 2, "halted: 2 crashes in safe mode in a row; a launch waits, or makes one more try in safe mode"),
        ("trial", false, 0, 2, 0, 2, "trial: the normal launch is tried; when it is finished safe mode is over"),
        ("probation", false, 0, 2, 0, 2, "probation: a repair has just been made; one launch crash climbs the ladder at once"),
        ("normal", false, 0, 2, 0, 2, "normal"),
    ])
    func modes(mode: String, isHalted: Bool, good: UInt32, retry: UInt32, crashes: UInt32, limit: UInt32, line: String) throws {
        let lines = try one {
            $0.mode = mode
            $0.isHalted = isHalted
            $0.goodRuns = good
            $0.retryRuns = retry == 0 ? nil : retry
            $0.safeCrashes = crashes
            $0.safeCrashLimit = limit
        }
        #expect(lines[3] == "  mode      \(line)")
        // Safe mode begins with the ladder at its foot, and tries none of it.
        let isOnLadder = mode == "probation" || mode == "normal"
        #expect(lines.contains { $0.contains("▶   ╞═ 2") } == isOnLadder && lines.contains { $0.contains("●○○") } == isOnLadder)
        let words = mode == "trial" ? "none is tried during a trial" : "none is tried in safe mode"
        #expect(lines.contains("  ladder    the most disruptive repair on top; \(words)") != isOnLadder)
    }

    @Test func aRepairThatIsDueAndShadowAndNever() throws {
        let lines = try one {
            $0.isDue = true
            $0.isShadow = true
            $0.unknownAfter = 0
        }
        #expect(lines.contains("            a repair is needed, whatever the streak"))
        #expect(lines.contains("            shadow: the last launch only decided, and did nothing"))
        #expect(lines.contains("            unknown 2 (never repair)"))
    }

    /// The counters say what needs a repair; else the program asked for one, or one did not help.
    @Test func theReasonForARepair() throws {
        for (streak, unknown, isDue, words) in [
            (2, 4, true, ": 2 launch crashes in a row"), (1, 4, true, ": 4 unexplained deaths"), (1, 3, true, ", whatever the streak"), (1, 3, false, nil),
        ] as [(UInt32, UInt32, Bool, String?)] {
            let lines = try one {
                $0.streak = streak
                $0.unknown = unknown
                $0.isDue = isDue
            }
            #expect(lines.first { $0.contains("a repair is needed") } .map(String.init) == words.map { "            a repair is needed\($0)" })
        }
    }

    @Test func anUpgradeFollowsACrash() throws {
        let lines = text(try Reader(path: Sample.golden("upgraded.lg")).ledger()).split(separator: "\n").map(String.init)
        #expect(lines.contains("            a repair is needed: 4 unexplained deaths"))
        let run = try #require(lines.firstIndex { $0.hasPrefix("  #1 ") })
        #expect(lines[run].contains("crash SIGSEGV fault.null_write") && lines[run].hasSuffix("r○↑"))
        #expect(lines[run + 1].hasSuffix("because the run file holds a crash record; an upgrade followed, and reset all counters"))
        #expect(lines.last?.contains("↑ an upgrade followed") == true)
    }

    @Test func theTopOfTheLadder() throws {
        let lines = try one { $0.rung = 4 }
        let top = try #require(lines.firstIndex { $0.contains("▶   ╷") })
        #expect(lines[top] == "        ▶   ╷  no repair is left")
        #expect(lines[top + 1] == "            ╞═ 3  delete-database             impact 90   passed  destructive, by consent")
        #expect(lines.filter { $0.contains("passed") }.count == 4)
    }

    @Test func throttlesAndSeriesUnderWay() throws {
        #expect(try one { $0.rung = 3; $0.attempts = 0; $0.interruptions = 0 }.contains { $0.hasSuffix("last series 2026-01-03T00:00:00Z, throttled until 2026-01-04T00:00:00Z") })
        let underWay = try one { $0.rung = 3; $0.attempts = 1; $0.interruptions = 0 }
        #expect(underWay.contains("            │     last series 2026-01-03T00:00:00Z"))
        #expect(underWay.contains("        ▶   ╞═ 3  delete-database             impact 90   ●       destructive, by consent"))
        var ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        ledger.contexts[0].ladder[3].lastSeries = Timestamp(nanoseconds: .max)
        #expect(text(ledger).contains("throttled until 2554-07-21T23:34:33Z"))
        #expect(!text(ledger, now: Timestamp(nanoseconds: .max)).contains("throttled until"))
    }

    @Test func longNamesLeaveTheLinesShort() throws {
        let name = String(repeating: "n", count: 63)
        let lines = try one {
            $0.ladder[3].name = name
            $0.ladder[3].needsRestart = true
        }
        let rung = try #require(lines.firstIndex { $0.contains(name) })
        #expect(lines[rung].hasSuffix("  impact 90   ○"))
        #expect(lines[rung + 1] == "            │     destructive, by consent, needs a restart")
        #expect(lines.allSatisfy { $0.count <= 120 })
    }

    @Test func manyAttemptsAreShownAsANumber() throws {
        let lines = try one {
            $0.ladder[2].attempts = 100
            $0.attempts = 7
            $0.ladder[3].attempts = 11
        }
        #expect(lines.contains("        ▶   ╞═ 2  reset-settings              impact 50   7/100   by consent, needs a restart"))
        #expect(lines.contains("            ╞═ 3  delete-database             impact 90   0/11    destructive, by consent"))
        #expect(try one { $0.attempts = 9 }.contains { $0.contains("9/3") }, "more than are allowed: a policy that changed")
    }

    @Test func allRunsAreShownUnlessAFewAreAskedFor() throws {
        let ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        let few = text(ledger, limit: 2)
        #expect(few.contains("timeline, oldest run first (12 older ones are not shown)\n"))
        #expect(few.contains("  ── version 1.1 ──\n  #13"))
        #expect(!few.contains("#12") && !few.contains("‖ held"), "the legend explains only shown signs")
        #expect(text(ledger, limit: 0).contains("timeline: 14 runs are not shown"))
    }

    @Test func runsThatAreNotCountedYetAreMarked() throws {
        let lines = try text(Sample.ledger()).split(separator: "\n")
        #expect(lines.contains("  #11  2026-01-31T11:00:00Z  1.402 s  crash SIGSEGV fault.null_read  r?✗"))
        #expect(lines.contains("  #12  at an unknown time    unknown  unknown"))
        #expect(lines.contains("       because the process was gone without any mark: killed, or ended without exit(); not yet counted"))
        #expect(lines.contains("  ── version unknown ──"))
    }

    @Test func aFinishedLaunchIsNamedWhereItsRunFileExists() throws {
        var ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        ledger.timeline[4].finished = ["main"]
        ledger.timeline[0].finished = []
        let lines = text(ledger).split(separator: "\n")
        #expect(lines.contains("  #5   2026-01-01T15:00:00Z  6.172 s   clean                           ‖+✓     ·"))
        #expect(lines.contains { $0.contains("✓ finished  ") || $0.hasSuffix("✓ finished") })
    }

    @Test func manyContextsStandBelowTheRun() throws {
        var ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        for number in 0..<14 {
            ledger.contexts.append(ledger.contexts[1])
            ledger.contexts[number + 2].name = "context number \(number)"
        }
        ledger.timeline[3].counted.append("context number 9")
        let lines = text(ledger).split(separator: "\n")
        let run = try #require(lines.firstIndex { $0.hasPrefix("  #4 ") })
        #expect(
            lines[run..<run + 4] == [
                "  #4   2026-01-01T12:00:00Z  4.938 s   crash SIGSEGV fault.null_write", "       because the run file holds a crash record",
                "       r‖−xm✗     main", "       ✗          context number 9",
            ])
        #expect(lines.allSatisfy { $0.count <= 120 })
    }

    @Test func colourIsForTerminals() throws {
        let ledger = try Reader(path: Sample.golden("story.lg")).ledger()
        #expect(text(ledger, isColored: true).contains("\u{1B}[1;31m✗\u{1B}[0m"))
        #expect(!text(ledger).contains("\u{1B}"))
    }
}
