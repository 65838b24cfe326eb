public import LaunchGuard

/// Copy bytes that may not be there, for example of a mapped file that another process may cut
/// short. Where ``GuardClass/memory`` is off, the copy is one like any other, with its crash.
///
/// The closure reads a copy, never the memory itself: a fault then ends the copying
/// within one function of C. To end a closure at a fault, LaunchGuard would have to jump over
/// frames of Swift, with the locks, references and half-made changes that they hold. All guarded
/// reads of Swift count as one site; the frames of an event distinguish them.
///
/// - Parameter source: any addresses.
/// - Throws: `LaunchGuardError` with the code `system` and the system's error `EFAULT` where a byte
///   cannot be read.
@unsafe
public func guardedRead(from source: UnsafeRawBufferPointer) throws(LaunchGuardError) -> [UInt8] {
    try unsafe CoreGuards.read(source)
}
