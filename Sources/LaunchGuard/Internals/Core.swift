internal import CLaunchGuard
import Glibc

/// What the C core says about itself. This file and its neighbours `Core…` and `StatusTable` are the only ones that name C.
enum Core {
    static var version: String { unsafe String(cString: lg_version()) }

    static func name(of code: LaunchGuardError.Code) -> String {
        unsafe String(cString: lg_status_name(lg_status(rawValue: code.rawValue)))
    }

    static func message(of code: LaunchGuardError.Code) -> String {
        unsafe String(cString: lg_status_message(lg_status(rawValue: code.rawValue)))
    }

    /// The result of a call as an error, with the message of its own if it has one; call it before anything else can change errno.
    static func error(_ status: lg_status, _ message: () -> String = { "" }) -> LaunchGuardError? {
        let systemError = status == LG_ERR_SYSTEM ? errno : nil
        guard status != LG_OK else { return nil }
        let message = message()
        return LaunchGuardError(.init(status), message.isEmpty ? nil : message, errno: systemError)
    }
}

/// Call a body with a C string, or with NULL for `nil`.
func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}
