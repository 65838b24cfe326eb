// The streams about the process and its system.

extension MinidumpFile {
    /// MINIDUMP_SYSTEM_INFO. The number of processors is not in the record.
    mutating func addSystem(_ system: RunSystem?, _ processor: MinidumpProcessor) {
        let release = system?.kernel ?? ""
        let numbers = release.split { !$0.isASCII || !$0.isNumber }.prefix(3).map { UInt32($0) ?? 0 } + [0, 0, 0]
        let words = ["Linux", release, system?.hardware ?? (processor == .x86_64 ? "x86_64" : "aarch64")].filter { !$0.isEmpty }
        let name = append(words.joined(separator: " "))
        var part = MinidumpBytes()
        part.add(processor.architecture)
        part.add(zeros: 2 * 2 + 1 + 1)  // level, revision, number of processors, product
        for number in numbers.prefix(3) { part.add(number) }
        part.add(UInt32(0x8201))  // MD_OS_LINUX of Breakpad
        part.add(name)
        part.add(zeros: 2 * 2 + 24)  // suites, reserved, features of the processor
        add(.systemInfo, part)
    }

    /// MINIDUMP_MISC_INFO, its first version: the process and its times.
    mutating func addMiscInfo(_ identity: RunIdentity?, _ crash: Crash?) {
        guard let identity else { return }
        func seconds(_ nanoseconds: UInt64?) -> UInt32 { UInt32(clamping: (nanoseconds ?? 0) / 1_000_000_000) }
        let hasTimes = identity.started != nil
        var part = MinidumpBytes()
        part.add(UInt32(24))
        // MINIDUMP_MISC1_PROCESS_ID and MINIDUMP_MISC1_PROCESS_TIMES
        part.add(UInt32(hasTimes ? 3 : 1))
        part.add(identity.processID)
        part.add(seconds(identity.started?.nanoseconds))
        part.add(seconds(hasTimes ? crash?.resources?["cpu_user"]?.value : nil))
        part.add(seconds(hasTimes ? crash?.resources?["cpu_system"]?.value : nil))
        add(.miscInfo, part)
    }

    /// The memory map in the form of proc(5). The record has no devices and no inodes.
    mutating func addMaps(_ map: MemoryMap?) {
        guard let map else { return }
        var part = MinidumpBytes()
        part.add(bytes: map.procText.utf8)
        add(.linuxMaps, part)
    }

    /// The record's facts from `/proc/PID/status`, in the form of proc(5).
    mutating func addStatus(of report: RunReport) {
        guard let text = report.procStatusText else { return }
        var part = MinidumpBytes()
        part.add(bytes: text.utf8)
        add(.linuxProcStatus, part)
    }

    /// MDRawBreakpadInfo: which thread the dump is about, where there is no exception to say so.
    mutating func addRequest(_ thread: Int32) {
        var part = MinidumpBytes()
        part.add(UInt32(2))  // MD_BREAKPAD_INFO_VALID_REQUESTING_THREAD_ID
        part.add(UInt32(0))
        part.add(thread)
        add(.breakpadInfo, part)
    }

    /// MinidumpCrashpadInfo, version 1: the run as the report's number, and names with values.
    mutating func addAnnotations(_ annotations: [(key: String, value: String)], run uuid: String?) {
        var list = MinidumpBytes()
        list.add(UInt32(annotations.count))
        for (key, value) in annotations {
            list.add(append(utf8: key))
            list.add(append(utf8: value))
        }
        var part = MinidumpBytes()
        part.add(UInt32(1))
        part.add(bytes: Self.guid(uuid ?? ""))
        part.add(zeros: 16)  // client
        part.add(append(list))
        part.add(MinidumpLocation())  // annotations of single modules
        add(.crashpadInfo, part)
    }

    /// A UUID in the order of a GUID: its first three numbers are little-endian.
    private static func guid(_ uuid: String) -> [UInt8] {
        let digits = uuid.filter { $0 != "-" }
        guard digits.count == 32, let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16) else {
            return [UInt8](repeating: 0, count: 16)
        }
        var part = MinidumpBytes()
        part.add(UInt32(truncatingIfNeeded: high >> 32))
        part.add(UInt16(truncatingIfNeeded: high >> 16))
        part.add(UInt16(truncatingIfNeeded: high))
        part.add(low.byteSwapped)
        return part.bytes
    }
}
