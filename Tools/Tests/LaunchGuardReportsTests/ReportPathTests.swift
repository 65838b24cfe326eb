import Testing

@testable import LaunchGuardReportModel

/// Paths are bytes: their text leads back to the same ones.
@Suite struct ReportPathTests {
    @Test(arguments: [
        [], Array("/var/lib/notes".utf8), Array("/été/\u{1F4D3}".utf8), [0x63, 0xE9], [0xFF, 0x80, 0xFE], [0xF4, 0x8F, 0xBF, 0xA9], [0xF0, 0x9F, 0x93],
        [0x2F, 0xC3, 0x28, 0xC3, 0xA9, 0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x8F, 0xBB, 0xBF], [0xC0, 0x80],
    ] as [[UInt8]])
    func textLeadsBack(bytes: [UInt8]) {
        #expect(ReportPath.bytes(ReportPath.text(bytes)) == bytes)
    }

    @Test func everyPairOfBytesLeadsBack() {
        let isLost = (UInt16.min ... .max).contains { pair in
            let bytes = [0x61, UInt8(pair >> 8), UInt8(pair & 0xFF), 0x62]
            return ReportPath.bytes(ReportPath.text(bytes)) != bytes
        }
        #expect(!isLost)
    }

    @Test func whatIsUTF8StaysAsItIs() {
        #expect(ReportPath.text(Array("/été".utf8)) == "/été")
        #expect(ReportPath.text([0x2F, 0xE9]) == "/\u{10FFE9}")
        #expect(TextWriter.escaped("/\u{10FFE9}") == #"/\xE9"#)
    }
}
