internal import CCallSite

/// The slow paths of containers: whether a fault is survived. Their caller is the site.

@usableFromInline @inline(never)
func survivesIndex<Container: Collection>(_ index: Container.Index, of container: Container) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .container, of: types(Container.self), at: site, "index \(index) of \(Container.self) with \(container.count) elements",
        ["index": "\(index)", "count": "\(container.count)", "type": "\(Container.self)"]
    )
}

@usableFromInline @inline(never)
func survivesRange<Container: Collection>(_ lower: Int, _ upper: Int, of container: Container) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .container, of: types(Container.self), at: site, "range \(lower)..<\(upper) of \(Container.self) with \(container.count) elements",
        ["range": "\(lower)..<\(upper)", "count": "\(container.count)", "type": "\(Container.self)"]
    )
}

@usableFromInline @inline(never)
func survivesEmpty<Container: Collection>(_ container: Container) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .container, of: types(Container.self), at: site, "last element of \(Container.self) that is empty", ["count": "0", "type": "\(Container.self)"]
    )
}

@usableFromInline @inline(never)
func survivesMissing<Key, Value>(_ key: Key, in _: [Key: Value].Type) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .container, of: types([Key: Value].self) + [Key.self, Value.self], at: site, "key \(key) is not in \([Key: Value].self)",
        ["key": "\(key)", "type": "\([Key: Value].self)"]
    )
}

@usableFromInline @inline(never)
func survivesDuplicates<Key, Value>(_ count: Int, in _: [Key: Value].Type) -> Bool {
    let site = unsafe lg_shim_call_site()
    return unsafe guardClaim(
        .container, of: types([Key: Value].self) + [Key.self, Value.self], at: site, "\(count) keys come again in pairs for \([Key: Value].self)",
        ["again": "\(count)", "type": "\([Key: Value].self)"]
    )
}

private func types<Container: Collection>(_: Container.Type) -> [any Any.Type] { [Container.self, Container.Element.self] }
