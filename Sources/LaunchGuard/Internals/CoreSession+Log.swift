internal import CLaunchGuard

extension CoreSession {
    func log(_ level: LogLevel, _ text: UnsafeRawBufferPointer) {
        _ = unsafe lg_log_write(pointer, lg_level(level.rawValue), text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count)
    }

    func log(_ level: LogLevel, _ text: String) {
        var text = text
        text.withUTF8 { unsafe log(level, UnsafeRawBufferPointer($0)) }
    }

    /// The strings are copied one after the other, as only one string at a time can lend its
    /// bytes.
    func log(_ level: LogLevel, _ category: String?, _ text: UnsafeRawBufferPointer, _ fields: [(String, String)]) {
        var category = category ?? ""
        if category.utf8.count > Int(LG_NAME_MAX) { category = String(decoding: category.utf8.prefix(Int(LG_NAME_MAX)), as: UTF8.self) }
        var room = Room(left: Int(LG_LOG_TEXT_MAX) - 4 - category.utf8.count - text.count, bytes: category.utf8.count)
        let isFitting = fields.prefix(256).map { room.takes($0, $1) }
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(room.bytes, 1)) { copies in
            unsafe withUnsafeTemporaryAllocation(of: lg_slice.self, capacity: 2 * fields.count + 1) { slices in
                var used = 0, count = 0
                func add(_ text: String, isFitting: Bool = true) {
                    var text = text
                    let start = unsafe copies.baseAddress! + used
                    if isFitting {
                        text.withUTF8 { unsafe start.update(from: $0.baseAddress ?? UnsafePointer(start), count: $0.count) }
                        used += text.utf8.count
                    }
                    // For a field that does not fit, only the sizes are read: the field is left
                    // out, and the entry marked as cut.
                    let size = isFitting ? text.utf8.count : Int.max
                    unsafe slices[count] = lg_slice(bytes: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), size: size)
                    count += 1
                }
                add(category)
                for ((key, value), isFitting) in zip(fields, isFitting) where !key.isEmpty {
                    add(key, isFitting: isFitting)
                    add(value, isFitting: isFitting)
                }
                let whole = unsafe lg_slice(bytes: text.baseAddress?.assumingMemoryBound(to: CChar.self), size: text.count)
                _ = unsafe lg_log_slices(pointer, lg_level(level.rawValue), slices[0], whole, slices.baseAddress! + 1, (count - 1) / 2)
            }
        }
    }

    /// Counts the room in an entry, as the core does.
    private struct Room {
        var left: Int
        var bytes: Int

        mutating func takes(_ key: String, _ value: String) -> Bool {
            let size = key.utf8.count + value.utf8.count
            guard !key.isEmpty, size <= left - 4 else { return false }
            left -= size + 4
            bytes += size
            return true
        }
    }
}
