import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing

/// A value in a breadcrumb reads as in a `String`, the first time and from then on.
@Suite struct InterpolationTests {
    enum Plain { case first, second, third }
    enum Other { case first, second }
    enum Single { case only }
    enum Raw: String { case one = "eins", two }
    enum Narrow { case empty, small(UInt8), large(UInt16) }
    enum Described: CustomStringConvertible {
        case first

        var description: String { "described" }
    }
    enum Debugged: CustomDebugStringConvertible {
        case first

        var debugDescription: String { "debugged" }
    }
    enum Mirrored: CustomReflectable {
        case first

        var customMirror: Mirror { Mirror(self, children: ["child": 1]) }
    }
    struct Streamed: TextOutputStreamable, CustomStringConvertible {
        var description: String { "not this" }

        func write(to target: inout some TextOutputStream) { target.write("streamed") }
    }
    struct Pair { var left: Int16, right: Int16 }
    struct Empty {}

    /// The text by LaunchGuard, and by the standard library.
    static func texts() -> [(LogMessage, String)] {
        let nothing: Plain? = nil, something: Plain? = .second
        return [
            ("\(Plain.first) \(Plain.second) \(Plain.third)", "\(Plain.first) \(Plain.second) \(Plain.third)"),
            ("\(Other.first) \(Other.second) \(Single.only)", "\(Other.first) \(Other.second) \(Single.only)"),
            ("\(Raw.one) \(Raw.two)", "\(Raw.one) \(Raw.two)"),
            ("\(Narrow.empty) \(Narrow.small(0)) \(Narrow.small(7))", "\(Narrow.empty) \(Narrow.small(0)) \(Narrow.small(7))"),
            ("\(Narrow.large(0)) \(Narrow.large(515))", "\(Narrow.large(0)) \(Narrow.large(515))"),
            ("\(Described.first) \(Debugged.first) \(Mirrored.first)", "\(Described.first) \(Debugged.first) \(Mirrored.first)"),
            ("\(Streamed())", "\(Streamed())"),
            ("\(nothing as Any) \(something as Any)", "\(nothing as Any) \(something as Any)"),
            ("\(Pair(left: 1, right: -1)) \(Empty()) \(())", "\(Pair(left: 1, right: -1)) \(Empty()) \(())"),
            ("\(0.1) \(-0.0) \(Double.infinity) \(Double.nan) \(Double.pi) \(1e300)", "\(0.1) \(-0.0) \(Double.infinity) \(Double.nan) \(Double.pi) \(1e300)"),
            ("\(Float(0.1)) \(1 as Int8) \("é" as Character)", "\(Float(0.1)) \(1 as Int8) \("é" as Character)"),
            ("\([Plain.first, .third]) \(["a": 1]) \(URL(filePath: "/a b"))", "\([Plain.first, .third]) \(["a": 1]) \(URL(filePath: "/a b"))"),
        ]
    }

    @Test func everyValueReadsAsInAString() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            // Several threads meet the names of the cases for the first time, together.
            await withTaskGroup { group in
                for _ in 1...4 {
                    group.addTask {
                        for round in 1...5 {
                            for (number, (text, _)) in Self.texts().enumerated() { session.log(.info, text, category: "\(number) \(round)") }
                        }
                    }
                }
            }
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        let expected = Self.texts().map(\.1)
        #expect(entries.count == 4 * 5 * expected.count)
        for entry in entries {
            let number = try #require(entry.category?.split(separator: " ").first.flatMap { Int($0) })
            #expect(entry.text == expected[number])
        }
    }
}
