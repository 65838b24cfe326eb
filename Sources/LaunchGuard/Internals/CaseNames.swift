import Synchronization

/// The names of enumerations' cases. The runtime finds a name by reflection, which takes longer
/// than all the rest of a breadcrumb.
///
/// A table with a place for each hash. A name that is there stays there, so that a reader takes no
/// lock. Where two names have the same place, the second one is looked up each time.
enum CaseNames {
    @safe
    private struct Entry {
        let type: ObjectIdentifier
        let bytes: UInt64
        let name: UnsafeBufferPointer<UInt8>
    }

    private static let placeCount = 256

    /// Addresses of entries; 0: free.
    private nonisolated(unsafe) static let places: UnsafeMutablePointer<Atomic<UInt>> = {
        let places = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: placeCount)
        for index in 0..<placeCount { unsafe (places + index).initialize(to: Atomic(0)) }
        return unsafe places
    }()

    /// The name of a case without associated values; `nil` for any other value, and where its
    /// description is another one.
    static func name<Value>(of value: Value) -> UnsafeBufferPointer<UInt8>? {
        // Bytes that are the same mean the same case only where nothing else is in them.
        guard MemoryLayout<Value>.size <= 8, _isPOD(Value.self) else { return nil }
        var bytes: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &bytes) { target in
            unsafe withUnsafeBytes(of: value) { unsafe target.copyMemory(from: $0) }
        }
        let type = ObjectIdentifier(Value.self)
        let place = unsafe places + hash(type, bytes)
        if let entry = unsafe entry(at: place) {
            return unsafe entry.type == type && entry.bytes == bytes ? entry.name : nil
        }
        guard let name = reflectedName(of: value) else { return nil }
        unsafe add(type, bytes, name, at: place)
        return nil
    }

    private static func hash(_ type: ObjectIdentifier, _ bytes: UInt64) -> Int {
        let mixed = (UInt64(UInt(bitPattern: type)) ^ bytes &* 0x9e37_79b9_7f4a_7c15) &* 0xff51_afd7_ed55_8ccd
        return Int(truncatingIfNeeded: mixed >> 56)
    }

    private static func entry(at place: UnsafeMutablePointer<Atomic<UInt>>) -> Entry? {
        unsafe UnsafePointer<Entry>(bitPattern: place.pointee.load(ordering: .acquiring))?.pointee
    }

    private static func reflectedName<Value>(of value: Value) -> String? {
        guard !(value is any CustomStringConvertible), !(value is any TextOutputStreamable), !(value is any CustomReflectable),
            !(value is any CustomDebugStringConvertible)
        else { return nil }
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? String(describing: value) : nil
    }

    /// Kept for good. Where another thread was first, its entry stays.
    private static func add(_ type: ObjectIdentifier, _ bytes: UInt64, _ name: String, at place: UnsafeMutablePointer<Atomic<UInt>>) {
        let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.utf8.count)
        _ = unsafe text.initialize(from: name.utf8)
        let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
        unsafe entry.initialize(to: Entry(type: type, bytes: bytes, name: UnsafeBufferPointer(text)))
        let added = unsafe place.pointee.compareExchange(expected: 0, desired: UInt(bitPattern: entry), ordering: .acquiringAndReleasing)
        guard !added.exchanged else { return }
        unsafe entry.deallocate()
        unsafe text.deallocate()
    }
}
