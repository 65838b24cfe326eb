import Glibc

/// The checks that a sanitizer changes, decided in one place.
enum Sanitizer {
    /// Instrumented code calls a function of the runtime for each atomic access: that function may
    /// be the innermost frame of a busy loop, and a headline names it.
    static var keepsLoopsInnermost: Bool {
        guard has("__tsan_init") else { return true }
        print("not checked under ThreadSanitizer: the function that a headline names")
        return false
    }

    private static func has(_ function: String) -> Bool { unsafe dlsym(nil, function) != nil }
}
