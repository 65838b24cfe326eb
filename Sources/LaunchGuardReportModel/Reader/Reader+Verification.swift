internal import CLaunchGuard

extension Reader {
    /// One block of a file, checked.
    public struct Block: Codable, Hashable, Sendable {
        public var name: String
        /// "ok", "incomplete" or "damaged".
        public var status: String
        /// One line for a person.
        public var detail: String
    }

    /// Check the bounds and checksums of every block; the result is whole when no block is damaged.
    public func verify() -> (isWhole: Bool, blocks: [Block]) {
        let blocks = BlockList()
        let status = withExtendedLifetime(blocks) {
            unsafe lg_reader_verify(
                handle,
                { name, status, detail, user in
                    guard let user = unsafe user else { return }
                    let list = unsafe Unmanaged<BlockList>.fromOpaque(user).takeUnretainedValue()
                    unsafe list.blocks.append(
                        Block(
                            name: name.map { unsafe String(cString: $0) } ?? "",
                            status: CLibrary.statusName(status.rawValue),
                            detail: detail.map { unsafe String(cString: $0) } ?? ""))
                },
                Unmanaged.passUnretained(blocks).toOpaque())
        }
        return (status == LG_OK, blocks.blocks)
    }

    private final class BlockList {
        var blocks: [Block] = []
    }
}
