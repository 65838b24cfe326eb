internal import CCallSite

/// The slow paths of strings: whether a fault is survived. Their caller is the site. The text of
/// the program itself is in no event.

@usableFromInline @inline(never)
func survivesOffset<Text: StringProtocol>(_ offset: Int, of text: Text) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .string, of: [Text.self], at: site, "offset \(offset) of \(Text.self) with \(text.count) characters",
        ["offset": "\(offset)", "count": "\(text.count)"]
    )
}

@usableFromInline @inline(never)
func survivesOffsets<Text: StringProtocol>(_ lower: Int, _ upper: Int, of text: Text) -> Bool {
    let site = unsafe lg_shim_call_site()
    let range = upper == .max ? "\(lower)..." : "\(lower)..<\(upper)"
    return unsafe guardClaim(
        .string, of: [Text.self], at: site, "offsets \(range) of \(Text.self) with \(text.count) characters",
        ["offsets": range, "count": "\(text.count)"]
    )
}

@usableFromInline @inline(never)
func survivesNull() -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(.string, of: [String.self], at: site, "string of C that is null")
}

@usableFromInline @inline(never)
func survivesInvalid(_ count: Int) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(.string, of: [String.self], at: site, "\(count) bytes that are not valid UTF-8", ["bytes": "\(count)"])
}
