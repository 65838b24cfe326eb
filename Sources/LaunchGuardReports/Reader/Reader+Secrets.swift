extension Reader {
    /// Blanks redacted values in the bytes around the stack pointers and program counters of the
    /// crashes, which are in a report also without the memory of the stacks. Where it is not known
    /// what is redacted, there are no bytes.
    func blankSecrets(in report: inout RunReport) {
        let redaction = redaction()
        guard report.crash != nil || report.otherCrashes != nil, !redaction.isKnown || !redaction.keys.isEmpty else { return }
        let secrets = MinidumpSecrets(redactedValues())
        report.crash?.blank(secrets)
        for index in (report.otherCrashes ?? []).indices { report.otherCrashes?[index].blank(secrets) }
    }
}

extension Crash {
    fileprivate mutating func blank(_ secrets: MinidumpSecrets) {
        stackMemory = stackMemory?.without(secrets)
        codeMemory = codeMemory?.without(secrets)
    }
}

extension Crash.Memory {
    fileprivate func without(_ secrets: MinidumpSecrets) -> Self? {
        guard var content = LaunchGuardReports.bytes(hex: bytes) else { return nil }
        secrets.blank(&content)
        return content.isEmpty ? nil : Self(start: start, bytes: hex(content))
    }
}
