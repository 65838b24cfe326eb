import Foundation
import LaunchGuardReportModel
import Testing

@Suite struct JournalExportTests {
    private static let evil = "evil\n\nMESSAGE_ID=1\nCOREDUMP_PID\n\u{1}\0\0\0\0\0\0\0x\n\u{1B}[31m\u{202E}="

    /// The entries, as a reader takes them apart; nil: it cannot.
    private func parsed(_ run: RunReport) -> [[(name: String, value: String)]]? {
        var rest = JournalExport(run).bytes[...]
        var entries: [[(String, String)]] = [[]]
        while !rest.isEmpty {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty {
                entries.append([])
            } else if let mark = line.firstIndex(of: UInt8(ascii: "=")) {
                entries[entries.count - 1].append((text(line[..<mark]), text(line[(mark + 1)...])))
            } else {
                guard rest.count >= 8 else { return nil }
                let size = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                guard rest.count >= 8 + size + 1 else { return nil }
                entries[entries.count - 1].append((text(line), text(rest.dropFirst(8).prefix(size))))
                rest = rest.dropFirst(8 + size + 1)
            }
        }
        return entries.last?.isEmpty == true ? entries.dropLast() : nil
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private func whole() throws -> RunReport {
        var run = try Sample.surrounded()
        run.fingerprint = "0123"
        run.annotations = [Annotation(key: "document", value: "letter.txt"), Annotation(redacted: "token")]
        run.breadcrumbs?.entries[0].category = "network"
        run.breadcrumbs?.entries[0].fields = [.init(key: "url", value: "x"), .init(key: "token", value: nil)]
        return run
    }

    @Test func theEndStandsAmongTheBreadcrumbs() throws {
        var run = try whole()
        run.breadcrumbs?.entries[1].monotonicNanoseconds = 2_500_000_000
        let entries = try #require(parsed(run))
        #expect(entries.count == 3)
        #expect(entries[1].contains { $0 == ("MESSAGE_ID", "fc2e22bc6ee647b6b90729ab34a250b1") })
        #expect(entries[1].contains { $0 == ("COREDUMP_TIMESTAMP", "1769860801402000") } && entries[1].contains { $0 == ("LAUNCHGUARD_FINGERPRINT", "0123") })
        #expect(entries[0].contains { $0 == ("LAUNCHGUARD_FIELD", "url=x") } && entries[0].contains { $0 == ("LAUNCHGUARD_REDACTED", "token") })
        #expect(entries[2].contains { $0 == ("MESSAGE", "cut here") } && entries[2].contains { $0 == ("PRIORITY", "6") })
    }

    /// Each text of the report in turn, as far as a file can say it, makes no field and no entry.
    @Test func nothingFromAFileBecomesAField() throws {
        let wanted = try #require(try parsed(whole())).map { $0.map(\.name) }
        let known = Set(wanted.joined())
        var tried = 0
        let object = try JSONSerialization.jsonObject(with: Data(JSONLine.text(try whole()).utf8))
        for changed in changes(of: object) {
            let json = String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self)
            guard let run: RunReport = try? JSONLine.value(from: json) else { continue }
            tried += 1
            let entries = try #require(parsed(run))
            #expect(entries.count == wanted.count)
            for entry in entries {
                #expect(Set(entry.map(\.name)).isSubset(of: known.union(["COREDUMP_PACKAGE_JSON"])))
                let shown = entry.filter { $0.name.hasPrefix("COREDUMP_") && !$0.name.hasPrefix("COREDUMP_P") || $0.name == "MESSAGE" && entry.count > 20 }
                #expect(!shown.contains { $0.value.unicodeScalars.contains { "\u{1B}\u{202E}".unicodeScalars.contains($0) } })
            }
        }
        #expect(tried > 60, "texts that a file can set: \(tried)")
    }

    private func changes(of value: Any) -> [Any] {
        switch value {
        case is String: [Self.evil]
        case let list as [Any]:
            list.indices.flatMap { index in
                changes(of: list[index]).map { change in
                    var changed = list
                    changed[index] = change
                    return changed
                }
            }
        case let object as [String: Any]:
            object.flatMap { key, part -> [Any] in changes(of: part).map { change in object.merging([key: change]) { $1 } } }
        default: []
        }
    }

    /// systemd refuses a wall clock time of 0, times of more than 55 bits and an entry of no boot.
    @Test(arguments: [0, 1, UInt64.max])
    func everyTimeIsOneThatSystemdTakes(number: UInt64) throws {
        var run = try whole()
        run.crash?.monotonicNanoseconds = number
        run.crash?.time = Timestamp(nanoseconds: number)
        run.breadcrumbs?.entries[0].monotonicNanoseconds = UInt64.max - number
        run.breadcrumbs?.entries[0].time = nil
        for entry in try #require(parsed(run)) {
            let fields = Dictionary(entry.map { ($0.name, $0.value) }) { first, _ in first }
            let real = try #require(fields["__REALTIME_TIMESTAMP"].flatMap(UInt64.init)), uptime = try #require(fields["__MONOTONIC_TIMESTAMP"].flatMap(UInt64.init))
            #expect(real > 0 && real < 1 << 55 && uptime < 1 << 55)
            #expect(fields["_BOOT_ID"] == "6b1f9f1e000040008000000000000001", "the run stands for a boot that is not known")
        }
    }

    @Test func aDamagedRunIsAnEntry() throws {
        let entries = try #require(parsed(RunReport(path: "damaged.lgrun")))
        #expect(entries.count == 1 && entries[0].contains { $0 == ("MESSAGE", "damaged: how this run ended cannot be read") })
        #expect(entries[0].contains { $0 == ("MESSAGE_ID", "e1fc1ec7a0b74fb08a0a046ac66e8aa8") })
    }
}
