/// Report a fault that was found before it happens, and ask what to do about it. All typed guards
/// call this function, and only when they have found a fault.
///
/// ```swift
/// @inline(never)
/// public func remove(_ token: Token) {
///     let site = unsafe lg_shim_call_site()
///     …
///     if unsafe guardClaim(.observer, of: [Owner.self], at: site, "removed twice") { return }
///     …what the unguarded operation does
/// ```
///
/// - Parameters:
///   - subjects: the types that the lists of types are asked about, for example that of the owner
///     (`type(of: owner)`), or of the container and its elements.
///   - site: from `lg_shim_call_site()` of CCallSite. The function that the program calls makes
///     that call itself, with nothing between them: a debug build inlines nothing. And it is
///     `@inline(never)`: inlined, it has no caller of its own. Events are counted by the site.
///   - text: one line for people; made only where the guard is on.
///   - fields: up to four.
/// - Returns: true: neutralise the fault, and go on; false: do what the unguarded operation does.
///   With the policy `fatal` the call does not return.
func guardClaim(
    _ guardClass: GuardClass, of subjects: [any Any.Type], at site: UnsafeRawPointer?, _ text: @autoclosure () -> String,
    _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
) -> Bool {
    guard CoreGuards.isWorking(guardClass), GuardedTypes.hold(for: subjects) else { return false }
    return unsafe CoreGuards.claim(guardClass, site, text(), fields())
}
