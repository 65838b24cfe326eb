import ArgumentParser
internal import GRDB

@main
struct FleetTool: ParsableCommand {
    func run() throws {
        let queue = try DatabaseQueue(path: "/tmp/x.db")
        print(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } ?? 0)
    }
}
