extension Reader {
    /// The 16 bytes at each address that a register of the crashed thread held, as far as the
    /// record has them, as hexadecimal digits by the address; nil: none. Redacted values in them
    /// are blanked.
    public func capturedMemory() throws(ReportError) -> [String: String]? {
        let run = try run(includingMemory: true)
        guard let crash = run.fatalCrash else { return nil }
        let recorded = run.recordedCrash
        let memory = MinidumpMemory([crash, recorded == crash ? nil : recorded].compactMap(\.self), without: MinidumpSecrets(redactedValues()))
        var captured: [String: String] = [:]
        for register in crash.registers ?? [] {
            let start = register.value.value
            guard let stretch = memory.stretches.first(where: { $0.start <= start && start < $0.end }), stretch.end - start >= 16 else { continue }
            let first = Int(start - stretch.start)
            captured[register.value.description] = hex(stretch.bytes[first..<first + 16])
        }
        return captured.isEmpty ? nil : captured
    }
}
