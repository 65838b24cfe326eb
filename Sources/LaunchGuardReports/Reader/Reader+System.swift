internal import CLaunchGuard

extension Reader {
    /// The system that the run began on; nil: the part is not whole.
    func system(_ problems: inout Problems) -> RunSystem? {
        var info = lg_system_info()
        info.size = UInt32(MemoryLayout<lg_system_info>.size)
        return problems.isUsable(unsafe lg_reader_system(handle, &info), "system") ? RunSystem(&info) : nil
    }
}

extension RunSystem {
    fileprivate init(_ info: inout lg_system_info) {
        kernel = string(&info.kernel).nonEmpty
        hardware = string(&info.hardware).nonEmpty
        model = string(&info.model).nonEmpty
        distribution = string(&info.os_id).nonEmpty
        distributionVersion = string(&info.os_version).nonEmpty
        machineID = string(&info.machine).nonEmpty
        container = string(&info.container).nonEmpty
        unit = string(&info.unit).nonEmpty
        invocationID = string(&info.invocation).nonEmpty
        parentProcessID = info.parent_pid == 0 ? nil : info.parent_pid
        parentName = string(&info.parent_name).nonEmpty
        guard info.command_line_size > 0 else { return }
        // Each argument has a NUL; a line that is cut lacks the last one.
        var arguments = string(&info.command_line, size: Int(info.command_line_size)).split(separator: "\0", omittingEmptySubsequences: false)
        if arguments.last?.isEmpty == true { arguments.removeLast() }
        commandLine = arguments.map(String.init)
        isCommandLineCut = info.command_line_cut != 0 ? true : nil
    }
}
