import Glibc
import LaunchGuard

/// The protected start of the application: after two launch crashes in a row it restores the backup
/// and goes on.
func start(_ paths: Paths, keepLogging: Bool) async throws {
    let session = try Session.start(appID: "org.example.notes", version: "1.0", stateDirectory: paths.state)
    if let problem = session.problem { printError("notes: \(problem)") }
    deliverReports(session)

    let launch = session.launch("main", .init(reportAfter: 2, repairAfter: 2, onReport: { batch in
        print("report: streak \(batch.streak)")
        for report in batch.reports { print("  run \(report.ordinal): \(report.end) \(report.path)") }
    }))
    launch.addRepair("restore backup", impact: 50) {
        print("repair: restoring the backup in process \(getpid())")
        try Database.copy(from: paths.backup, to: paths.database)
    }
    launch.addTask("open database", options: .essential) {
        let database = try Database(path: paths.database)
        session.log(.info, "reading the notes of \(paths.database)")
        let summary = database.loadSummary()
        session.log(.info, "database opened, \(summary.count) notes")
        print("notes: \(summary.count) notes\n  first: \(excerpt(summary.first))\n  last:  \(excerpt(summary.last))")
    }

    print("start: process \(getpid()), streak \(launch.streak)")
    if let problem = await launch.begin().problem {
        printError("notes: \(problem)")
        exit(1)
    }
    launch.finish()
    print("finished: process \(getpid()), status \(launch.status)")

    guard keepLogging else { return }
    print("logging")
    for number in 1... {
        session.log(.info, "breadcrumb \(number)")
        print(number)  // Announced after the breadcrumb, which must survive from here on.
    }
}

/// Reports leave the machine where NOTES_REPORTS_TO holds the address of a server.
private func deliverReports(_ session: Session) {
    guard let address = unsafe getenv("NOTES_REPORTS_TO") else { return }
    do {
        try session.delivery.start(.init(target: .http(unsafe String(cString: address)), consent: .given))
        if let problem = session.delivery.problem { printError("notes: \(problem)") }
    } catch {
        printError("notes: \(error)")
    }
}

private func excerpt(_ text: String) -> Substring { text.prefix(60) }
