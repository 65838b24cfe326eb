import Foundation
import LaunchGuardReportModel

/// A report in a spool as the agent writes it, byte by byte (FORMAT.md, report).
struct SpooledReport {
    var uuid = UUID()
    var runUUID: UUID?
    var ordinal: UInt64 = 1
    /// `lg_end`; 3 is a crash.
    var end: UInt32 = 3
    var attempts: UInt32 = 0
    var httpStatus: Int32 = 0
    var nextNanoseconds: UInt64 = 0
    var more: UInt64 = 0
    var error = ""
    var settledNanoseconds: UInt64 = 0
    var toldNanoseconds: UInt64 = 0
    var brief = Array("{}".utf8)

    static let madeNanoseconds: UInt64 = 1_790_000_000_000_000_000

    var name: String { "2-\(String(repeating: "0", count: 20 - "\(ordinal)".count))\(ordinal)-\(uuid.uuidString.lowercased()).lgreport" }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ number: some FixedWidthInteger) { unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes += $0 } }
        func add(_ uuid: UUID) { unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes += $0 } }
        bytes += "LGREPORT".utf8
        add(1 as UInt16)
        add(0 as UInt16)
        add(456 as UInt32)
        add(uuid)
        add(runUUID ?? uuid)
        bytes += (0..<16).map { 0xA0 + $0 }
        add(ordinal)
        add(Self.madeNanoseconds)
        add(end)
        add(UInt32(brief.count))
        add(0 as UInt32)
        add(CRC32C.of(brief))
        add(more)
        add(0 as UInt64)
        add(0 as UInt64)
        add(0 as UInt32)
        add(attempts)
        add(httpStatus)
        add(0 as UInt32)
        add(0 as UInt64)
        add(attempts == 0 ? 0 : Self.madeNanoseconds + 1)
        add(nextNanoseconds)
        add(nextNanoseconds == 0 ? 0 : UInt64(3600) * 1_000_000_000)
        bytes += [UInt8](repeating: 0, count: 16)
        bytes += error.utf8
        bytes += [UInt8](repeating: 0, count: 392 - bytes.count)
        add(settledNanoseconds)
        add(toldNanoseconds)
        bytes += [UInt8](repeating: 0, count: 452 - bytes.count)
        add(CRC32C.of(bytes))
        return bytes + brief
    }
}

enum CRC32C {
    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0 as UInt32) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
    }
}

extension TemporaryFolder {
    /// The folders of a spool, its configuration and its consent.
    func makeSpool(endpoint: String = "https://reports.example.org:8443/secret?token=hidden") throws {
        for folder in ["tmp", "new", "sent", "held", "dead", "requests"] {
            try FileManager.default.createDirectory(atPath: "\(path)/spool/\(folder)", withIntermediateDirectories: true)
        }
        try write(Array("launchguard-delivery 1\ntarget=http\nendpoint=\(endpoint)\nends=crash,killed\n".utf8), "spool/config")
        try write(Array("given 1\n".utf8), "spool/consent")
    }

    func add(_ report: SpooledReport, to folder: String) throws {
        try write(report.bytes, "spool/\(folder)/\(report.name)")
    }
}
