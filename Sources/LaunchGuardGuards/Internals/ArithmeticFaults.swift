internal import CCallSite

/// The slow paths of arithmetic: whether a fault is survived. Their caller is the site.

@usableFromInline @inline(never)
func survivesArithmetic<Number: FixedWidthInteger>(_ left: Number, _ operation: StaticString, _ right: Number) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .arithmetic, of: [Number.self], at: site, "\(left) \(operation) \(right) is no \(Number.self)",
        ["left": "\(left)", "operation": "\(operation)", "right": "\(right)", "type": "\(Number.self)"]
    )
}

@usableFromInline @inline(never)
func survivesConversion<Source, Number: FixedWidthInteger>(_ number: Source, to _: Number.Type) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .arithmetic, of: [Number.self], at: site, "\(number) is no \(Number.self)",
        ["number": "\(number)", "from": "\(Source.self)", "type": "\(Number.self)"]
    )
}
