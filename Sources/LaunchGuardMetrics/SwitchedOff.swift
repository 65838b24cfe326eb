#if !Metrics
@available(*, unavailable, message: "switch on its trait in Package.swift: .package(…, traits: [\"Metrics\"]) for LaunchGuard")
public var LaunchGuardMetrics: SwitchedOff { SwitchedOff() }

/// Stands where the trait would put a type, and takes every use of that type, so that the compiler
/// shows the message of the declaration and no error of types before that.
@dynamicCallable
@dynamicMemberLookup
public struct SwitchedOff {
    public subscript(dynamicMember member: String) -> SwitchedOff { self }
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) -> SwitchedOff { self }
    public func dynamicallyCall<Value>(withKeywordArguments arguments: KeyValuePairs<String, Any>) -> Value { fatalError() }
}
#endif
