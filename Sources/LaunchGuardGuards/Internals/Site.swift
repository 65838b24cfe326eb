/// Address of the code that met a fault, or of the code that made what met it.
@safe
struct Site: Sendable {
    private let bits: UInt

    /// Where the calling function was called from: ``callSite()``.
    @inline(__always)
    static var ofCaller: Site { unsafe Site(bits: UInt(bitPattern: callSite())) }

    /// Our own code.
    static let own = Site(bits: 0)

    fileprivate var address: UnsafeRawPointer? { unsafe UnsafeRawPointer(bitPattern: bits) }
}

/// The question of all typed guards, with a site that was kept.
func guardClaim(
    _ guardClass: GuardClass, of subjects: [any Any.Type], at site: Site, _ text: @autoclosure () -> String,
    _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
) -> Bool {
    unsafe guardClaim(guardClass, of: subjects, at: site.address, text(), fields())
}
