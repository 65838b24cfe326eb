/// A policy that makes no sense.
struct PolicyError: Error, CustomStringConvertible {
    let description: String
}
