internal import CLaunchGuard
internal import LaunchGuardPlatform

/// Facts about the C core. Only this file and its neighbours `Core…` and `StatusTable` call C.
enum Core {
    static var version: String { unsafe String(cString: lg_version()) }

    static func name(of code: LaunchGuardError.Code) -> String {
        unsafe String(cString: lg_status_name(lg_status(rawValue: code.rawValue)))
    }

    static func message(of code: LaunchGuardError.Code) -> String {
        unsafe String(cString: lg_status_message(lg_status(rawValue: code.rawValue)))
    }

    /// The result of a call as an error, with a message of its own if it has one. Call this
    /// function before anything else can change errno.
    static func error(_ status: lg_status, _ message: () -> String = { "" }) -> LaunchGuardError? {
        let systemError = status == LG_ERR_SYSTEM ? errno : nil
        guard status != LG_OK else { return nil }
        let message = message()
        return LaunchGuardError(.init(status), message.isEmpty ? nil : message, errno: systemError)
    }

    static func launchInfo(
        of context: String, stateDirectory: String, options: LaunchOptions?
    ) throws(LaunchGuardError) -> LaunchInfo {
        let context = try text(context, "context"), stateDirectory = try text(stateDirectory, "stateDirectory")
        var info = lg_launch_info()
        info.size = UInt32(MemoryLayout<lg_launch_info>.size)
        var cOptions = unsafe lg_launch_options(options)
        let status = unsafe stateDirectory.withCString { directory in
            unsafe context.withCString { context in
                unsafe withUnsafePointer(to: &cOptions) { unsafe lg_launch_query(directory, context, options == nil ? nil : $0, &info) }
            }
        }
        if let error = error(status) { throw error }
        return LaunchInfo(info)
    }

    static func resetLaunch(_ context: String?, stateDirectory: String) throws(LaunchGuardError) {
        let context: String? = if let context { try text(context, "context") } else { nil }
        let stateDirectory = try text(stateDirectory, "stateDirectory")
        let status = unsafe stateDirectory.withCString { directory in
            unsafe withCString(context) { unsafe lg_launch_reset(directory, $0) }
        }
        if let error = error(status) { throw error }
    }

    static func undo(_ context: String, stateDirectory: String) throws(LaunchGuardError) {
        let context = try text(context, "context"), stateDirectory = try text(stateDirectory, "stateDirectory")
        let status = unsafe stateDirectory.withCString { directory in unsafe context.withCString { unsafe lg_undo(directory, $0) } }
        if let error = error(status) { throw error }
    }

    static func keptFiles(of context: String, stateDirectory: String) throws(LaunchGuardError) -> [KeptFile] {
        let context = try text(context, "context"), stateDirectory = try text(stateDirectory, "stateDirectory")
        var files: [KeptFile] = []
        let status = unsafe withUnsafeMutablePointer(to: &files) { files in
            unsafe stateDirectory.withCString { directory in
                unsafe context.withCString { context in
                    unsafe lg_undo_list(directory, context, { kept, files in
                        guard let kept = unsafe kept?.pointee else { return }
                        unsafe files?.assumingMemoryBound(to: [KeptFile].self).pointee.append(KeptFile(kept))
                    }, files)
                }
            }
        }
        if status == LG_ERR_NOT_FOUND { return [] }
        if let error = error(status) { throw error }
        return files.sorted { $0.path < $1.path }
    }

    static func stateDirectory(appID: String) throws(LaunchGuardError) -> String {
        let appID = try text(appID, "appID")
        var buffer = [CChar](repeating: 0, count: 4096)
        let status = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            unsafe appID.withCString { unsafe lg_state_directory($0, buffer.baseAddress, buffer.count) }
        }
        if let error = error(status) { throw error }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static func witness(_ waitStatus: Int32, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        let stateDirectory = try text(stateDirectory, "stateDirectory")
        let status = unsafe stateDirectory.withCString { unsafe lg_witness($0, pid, waitStatus) }
        if let error = error(status) { throw error }
    }

    static func witness(standardError bytes: [UInt8], total: UInt64, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        let stateDirectory = try text(stateDirectory, "stateDirectory")
        let status = unsafe stateDirectory.withCString { directory in
            unsafe bytes.withUnsafeBytes { unsafe lg_witness_stderr(directory, pid, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, total) }
        }
        if let error = error(status) { throw error }
    }

    static func witnessFinished(_ context: String, of pid: Int32, stateDirectory: String) throws(LaunchGuardError) {
        let context = try text(context, "context")
        let stateDirectory = try text(stateDirectory, "stateDirectory")
        let status = unsafe stateDirectory.withCString { directory in
            unsafe context.withCString { unsafe lg_witness_finished(directory, pid, $0) }
        }
        if let error = error(status) { throw error }
    }
}

/// Call a body with a C string, or with NULL for `nil`.
func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}

/// Call a body with a list of C strings that NULL ends, or with NULL for an empty list.
func withCStrings<Result>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
    if texts.isEmpty { return body(nil) }
    let pointers = unsafe texts.map { unsafe UnsafePointer<CChar>(strdup($0)) } + [nil]
    defer {
        for unsafe pointer in unsafe pointers { unsafe free(UnsafeMutableRawPointer(mutating: pointer)) }
    }
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
}
