extension MinidumpFile {
    /// The modules, the program first. A module that overlaps another one is left out: readers
    /// refuse the list then.
    mutating func addModules(of report: RunReport) {
        var modules: [RunModule] = []
        for module in (report.modules ?? []).sorted(by: { $0.start < $1.start }) where module.start < module.end {
            if modules.last.map({ $0.end <= module.start }) ?? true { modules.append(module) }
        }
        if let program = report.programPath, let index = modules.firstIndex(where: { $0.path == program }) {
            modules.insert(modules.remove(at: index), at: 0)
        }
        var list = MinidumpBytes()
        list.add(UInt32(modules.count))
        for module in modules {
            // MINIDUMP_MODULE
            list.add(module.start.value)
            list.add(UInt32(clamping: module.end.value - module.start.value))
            list.add(zeros: 2 * 4)  // checksum and time, which ELF does not have
            list.add(append(module.path))
            list.add(zeros: 52)  // version
            list.add(module.buildID.flatMap(Self.codeView).map { append($0) } ?? MinidumpLocation())
            list.add(zeros: 8 + 2 * 8)  // further debug record, reserved
        }
        add(.moduleList, list)
    }

    /// MDCVInfoELF of Breakpad: the bytes "LEpB" (MD_CVINFOELF_SIGNATURE, 'BpEL'), then the build
    /// id; nil: it is not one.
    private static func codeView(_ buildID: String) -> MinidumpBytes? {
        let digits = Array(buildID)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        guard !bytes.isEmpty, bytes.count * 2 == digits.count else { return nil }
        var part = MinidumpBytes()
        part.add(bytes: "LEpB".utf8)
        part.add(bytes: bytes)
        return part
    }
}
