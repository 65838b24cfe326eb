import LaunchGuardReportModel
import ToolBase
import ToolParts

/// Names of the pages of a folder. They are made of hexadecimal digits alone: a damaged database
/// names no file outside of the folder.
struct PageLinks {
    static let index = "index.html"

    /// The bugs that have a page.
    var bugs: Set<String>

    func bug(_ key: String) -> String? { bugs.contains(key) ? Self.name("bug", key) : nil }
    func run(_ uuid: String) -> String? { Self.name("run", uuid) }

    static func name(_ kind: String, _ id: String) -> String? {
        let isPlain = !id.isEmpty && id.utf8.count <= 64 && id.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) || $0 == 45 }
        return isPlain ? "\(kind)-\(id).html" : nil
    }
}

/// A folder of pages that link to each other: all bugs, each bug, and its best example.
enum FleetPages {
    static func write(_ fleet: FleetDatabase, _ ranking: Ranking, to folder: String) throws {
        guard try ReportPath.isFolder(folder) == true || ReportPath.makeFolder(folder) else {
            throw FleetError(folder, "it is no folder, and cannot be made one", .nothingFound)
        }
        func write(_ bytes: [UInt8], _ name: String) throws {
            do {
                try WholeFile.write(bytes, to: "\(folder)/\(name)")
            } catch {
                throw FleetError("\(folder)/\(name)", "it cannot be written: \(error)", .nothingFound)
            }
        }
        var links = PageLinks(bugs: [])
        for group in ranking.groups {
            guard let name = PageLinks.name("bug", group.bug) else { continue }
            let shown: ShownBug
            do {
                shown = try fleet.read { try ShownBug($0, fleet.path, key: group.bug) }
            } catch let error as FleetError where error.status == .nothingFound {
                // The row stays without a page.
                Output.complain("\(error)")
                continue
            }
            links.bugs.insert(group.bug)
            try write(shown.pageOfFigures(links: links).bytes, name)
            guard let identity = shown.example.identity, let run = links.run(identity.uuid) else { continue }
            let seen = "Seen \(group.runs == 1 ? "once" : "\(group.runs) times") on \(group.devices == 1 ? "1 device" : "\(group.devices) devices")"
            try write(HTMLPage(shown.example, fleet: .init(words: seen, bug: name, index: PageLinks.index)).bytes, run)
        }
        try write(ranking.page(links: links).bytes, PageLinks.index)
    }
}
