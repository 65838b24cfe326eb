internal import CLaunchGuard

extension Reader {
    /// Whether code is none of the program's own, by the list of the C library.
    static func isCommonCode(module: String? = nil, function: String? = nil, file: String? = nil) -> Bool {
        unsafe lg_code_is_common(module, function, file) != 0
    }
}
