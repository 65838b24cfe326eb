import CLaunchGuard
import Foundation
@testable import LaunchGuardReportModel
import Testing

/// The model has each field that the C library writes: what it decodes and encodes again is the
/// same JSON.
@Suite struct SameFieldsTests {
    private static let golden = (try? FileManager.default.subpathsOfDirectory(atPath: Sample.golden("")))?
        .filter { $0.hasSuffix(".lgrun") || $0.hasSuffix(".lg") } ?? []

    /// Output of `lg_reader_report()`.
    private func written(_ path: String, stackBytes: Bool) throws -> Any {
        final class Text { var bytes = Data() }
        let text = Text()
        var reader: OpaquePointer?
        try #require(unsafe lg_reader_open(path, &reader) == LG_OK)
        defer { unsafe lg_reader_close(reader) }
        let status = unsafe path.withCString { path in
            var options = unsafe lg_report_options()
            unsafe options.size = UInt32(MemoryLayout<lg_report_options>.size)
            unsafe options.path = path
            unsafe options.stack_bytes = stackBytes ? 1 : 0
            return unsafe lg_reader_report(
                reader, &options,
                { bytes, size, user in
                    guard let bytes = unsafe bytes, let user = unsafe user else { return 1 }
                    let text = unsafe Unmanaged<Text>.fromOpaque(user).takeUnretainedValue()
                    unsafe text.bytes.append(UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: size)
                    return 0
                },
                Unmanaged.passUnretained(text).toOpaque())
        }
        try #require(status == LG_OK)
        return try JSONSerialization.jsonObject(with: text.bytes)
    }

    @Test(arguments: golden, [false, true]) func nothingIsLostInTheModel(file: String, includingMemory: Bool) throws {
        let path = Sample.golden(file)
        let reader = try Reader(path: path)
        let text = reader.kind == .run ? JSONLine.text(try reader.run(includingMemory: includingMemory)) : JSONLine.text(try reader.ledger())
        let again = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject
        let written = try #require(try written(path, stackBytes: includingMemory) as? NSObject)
        #expect(again == written, "\(Self.difference(again, written))")
    }

    @Test func thereAreGoldenFiles() {
        #expect(Self.golden.count > 20)
    }

    /// Entries of a long log are read one by one, and not from the JSON.
    @Test(arguments: golden.filter { $0.hasSuffix(".lgrun") }) func breadcrumbsAreTheSame(file: String) throws {
        let reader = try Reader(path: Sample.golden(file))
        let run = try reader.run()
        guard let breadcrumbs = run.breadcrumbs else { return }
        #expect(try reader.breadcrumbs(of: run) == breadcrumbs)
    }

    /// The names that the schema has, which is made of the library's own table.
    @Test func enumerationsHaveTheNamesOfTheTable() throws {
        let data = try Data(contentsOf: Sample.root.appending(path: "docs/schema/launchguard.schema.json"))
        let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let types = try #require(schema["$defs"] as? [String: [String: Any]])
        func names(_ type: String) -> [String]? { types[type]?["enum"] as? [String] }
        #expect(names("run-end").map(Set.init) == Set(RunEnd.allCases.map(\.rawValue)))
        #expect(names("evidence") == Evidence.allCases.map(\.rawValue), "in the order of their values")
        #expect(names("crash-stage") == Crash.Stage.allCases.map(\.rawValue))
    }

    /// The first place where the two differ.
    private static func difference(_ first: Any?, _ second: Any?, at place: String = "") -> String {
        if let first = first as? [String: Any], let second = second as? [String: Any] {
            for key in Set(first.keys).union(second.keys).sorted() where first[key] as? NSObject != second[key] as? NSObject {
                return difference(first[key], second[key], at: "\(place).\(key)")
            }
        }
        if let first = first as? [Any], let second = second as? [Any] {
            for index in 0..<min(first.count, second.count) where first[index] as? NSObject != second[index] as? NSObject {
                return difference(first[index], second[index], at: "\(place)[\(index)]")
            }
        }
        return "\(place): the model has \(String(describing: first).prefix(60)), the library wrote \(String(describing: second).prefix(60))"
    }
}
