/// Address of the code that met a fault, or of the code that made what met it.
@safe
package struct Site: Sendable {
    private let bits: UInt

    /// - Parameter address: from `lg_shim_call_site()`; see ``guardClaim(_:of:at:_:_:)``. An
    ///   initializer of a class that asks for it is a convenience one: of others Swift makes two
    ///   functions, and one calls the other.
    package init(_ address: UnsafeRawPointer?) { bits = UInt(bitPattern: address) }

    /// Our own code.
    static let own = unsafe Site(nil)

    fileprivate var address: UnsafeRawPointer? { unsafe UnsafeRawPointer(bitPattern: bits) }
}

/// The question of all typed guards, with a site that was kept.
package func guardClaim(
    _ guardClass: GuardClass, of subjects: [any Any.Type], at site: Site, _ text: @autoclosure () -> String,
    _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
) -> Bool {
    unsafe guardClaim(guardClass, of: subjects, at: site.address, text(), fields())
}
