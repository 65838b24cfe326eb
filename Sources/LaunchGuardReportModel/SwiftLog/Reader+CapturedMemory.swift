extension Reader {
    /// The 16 bytes at each address that a register of the crashed thread held, as far as the
    /// record has them, as hexadecimal digits by the address; nil: none. Redacted values in them
    /// are blanked.
    public func capturedMemory() throws(ReportError) -> [String: String]? {
        let run = try runWithBlankedMemory()
        guard let crash = run.fatalCrash else { return nil }
        let crashes = [crash, run.recordedCrash].compactMap(\.self)
        let stacks = crashes.flatMap { ($0.memory ?? []).map { ($0.start, $0.bytes) } }
        let beside = crashes.flatMap { [$0.stackMemory, $0.codeMemory].compactMap(\.self) }.map { ($0.start, Optional($0.bytes)) }
        let memory = (stacks + beside).compactMap { start, digits in digits.flatMap(bytes(hex:)).map { (start: start.value, bytes: $0) } }
        var captured: [String: String] = [:]
        for register in crash.registers ?? [] {
            let address = register.value.value
            let found = memory.first { $0.start <= address && UInt64($0.bytes.count) >= 16 && address - $0.start <= UInt64($0.bytes.count) - 16 }
            guard let found else { continue }
            let first = Int(address - found.start)
            captured[register.value.description] = hex(found.bytes[first..<first + 16])
        }
        return captured.isEmpty ? nil : captured
    }
}
