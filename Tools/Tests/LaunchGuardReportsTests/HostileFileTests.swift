import Foundation
import LaunchGuardReportModel
import Testing
import TestSupport

/// Files as an attacker might write them: the reader may refuse them. It must not crash, hang, or
/// show damaged data as whole.
@Suite struct HostileFileTests {
    @Test func filesOfRandomBytesAreRefused() throws {
        let folder = try TemporaryFolder()
        for draw in try Seeded.draws("HostileFileTests/filesOfRandomBytesAreRefused") {
            var random = draw
            for size in [0, 1, 7, 64, 4095, 4096, 65536, 300_000] {
                for bytes in [(0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }, [UInt8](repeating: 0, count: size)] {
                    let path = try folder.write(bytes, "file")
                    let error = #expect(throws: ReportError.self) { try Reader(path: path) }
                    #expect(error?.code == .damaged, "\(size) bytes")
                    #expect(error?.path == path)
                }
            }
        }
    }

    @Test func directoriesAndLinksAreRefused() throws {
        let folder = try TemporaryFolder()
        #expect(#expect(throws: ReportError.self) { try Reader(path: folder.path + "/missing") }?.code == .notFound)
        #expect(throws: ReportError.self) { try Reader(path: folder.path) }
        #expect(throws: ReportError.self) { try Reader(path: "/dev/zero") }
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "/etc/passwd")
        let error = #expect(throws: ReportError.self) { try Reader(path: folder.path + "/link") }
        #expect(error?.code == .link)
        #expect(error?.description.hasPrefix(folder.path + "/link: ") == true)
    }

    @Test func cutAndChangedFilesAreReadAsFarAsTheyAreRight() async throws {
        let state = try await RecordedState.make()
        let folder = try TemporaryFolder()
        let draws = Array(try Seeded.draws("HostileFileTests/cutAndChangedFilesAreReadAsFarAsTheyAreRight"))
        for original in [state.runPath, state.directory.ledgerPath] {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: original)))
            try #require(try Reader(path: original).verify().isWhole)
            for size in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 97)) {
                readAll(try folder.write(Array(bytes[..<size]), "cut"))
            }
            for var random in draws {
                for _ in 0..<300 {
                    var changed = bytes
                    for _ in 0..<Int.random(in: 1...64, using: &random) {
                        changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                    }
                    readAll(try folder.write(changed, "changed"))
                }
            }
            // The head decides the meaning of everything else: change each of its bytes.
            for index in 0..<min(512, bytes.count) {
                var changed = bytes
                changed[index] ^= 0xFF
                readAll(try folder.write(changed, "head"))
            }
        }
    }

    @Test func aChangedByteInACheckedBlockIsDamage() async throws {
        let state = try await RecordedState.make()
        let folder = try TemporaryFolder()
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: state.runPath)))
        let uuid = Array(try #require(try Reader(path: state.runPath).run().identity?.appID.utf8))
        let place = try #require(bytes.firstRange(of: uuid)?.lowerBound)
        var changed = bytes
        changed[place] ^= 1
        let path = try folder.write(changed, "changed")
        do throws(ReportError) {
            let reader = try Reader(path: path)
            #expect(!reader.verify().isWhole)
            #expect(try reader.run().isDamaged)
        } catch {
            #expect(error.code == .damaged)
        }
    }

    /// Read every part of the file, and render it.
    private func readAll(_ path: String) {
        guard let reader = try? Reader(path: path) else { return }
        var writer = TextWriter()
        (try? reader.run())?.write(to: &writer, breadcrumbLimit: .max)
        (try? reader.ledger())?.write(to: &writer)
        _ = reader.verify()
        #expect(writer.text.isEmpty == false)
    }
}
