import Glibc

/// The checks that a sanitizer changes, decided in one place.
enum Sanitizer {
    /// Instrumented code calls `Atomic` where other code has its instructions in line: the
    /// innermost frame of a loop is that function, and a headline names it.
    static var keepsLoopsInnermost: Bool {
        guard has("__tsan_init") else { return true }
        print("not checked under ThreadSanitizer: the function that a headline names")
        return false
    }

    private static func has(_ function: String) -> Bool { unsafe dlsym(nil, function) != nil }
}
