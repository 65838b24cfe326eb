internal import CLaunchGuard
import LaunchGuard

/// The switchboard of the core. Only this file calls C.
enum CoreGuards {
    static func isWorking(_ guardClass: GuardClass) -> Bool {
        lg_guard_is_working(lg_guard_class(guardClass.rawValue)) != 0
    }

    /// `lg_guard_claim()` with texts of Swift, each cut at its first NUL.
    static func claim(
        _ guardClass: GuardClass, _ site: UnsafeRawPointer?, _ text: String, _ fields: KeyValuePairs<String, String>
    ) -> Bool {
        let count = min(fields.count, Int(LG_GUARD_FIELDS_MAX))
        return unsafe withUnsafeTemporaryAllocation(of: lg_field.self, capacity: Int(LG_GUARD_FIELDS_MAX)) { cFields in
            func add(_ index: Int) -> Bool {
                guard index < count else {
                    return unsafe text.withCString { unsafe lg_guard_claim(lg_guard_class(guardClass.rawValue), site, $0, cFields.baseAddress, count) != 0 }
                }
                return unsafe fields[index].key.withCString { key in
                    unsafe fields[index].value.withCString { value in
                        unsafe (cFields.baseAddress! + index).initialize(to: lg_field(key: key, value: value))
                        return add(index + 1)
                    }
                }
            }
            return add(0)
        }
    }
}
