import LaunchGuard
import LaunchGuardReports

// The view of a program where LaunchGuard does not know the platform.
var configuration = Session.Configuration(appID: "org.example.shell")
configuration.onLog = { _, category, text in print("\(category): \(text)") }
let session = try Session.start(configuration)
print(session.protection, session.problem!.code, session.problem!.message)
print(session.runPath ?? "no run")

let launch = session.launch("main", .init(repairAfter: 1, onReport: { _ in fatalError() }))
print(launch.problem!.code)
launch.addRepair("repair", impact: 0) { fatalError() }
launch.addTask("first") { print("first", launch.status) } onEvent: { print("first:", $0) }
launch.addTask("fails") { throw CancellationError() }
launch.addTask("left out", options: .essential) { fatalError() }
launch.addTask("last", options: .essential) {
    await Task.yield()
    _ = await launch.signal("before")
    print("last")
} onEvent: { print("last:", $0) }
launch.leaveOut("left out")
if let problem = await launch.begin().problem { print(problem) }
print(launch.status, launch.streak, launch.finish())
if let problem = await launch.waitUntilLaunched().problem { print(problem) }
_ = await launch.signal("after", to: "last")
launch.addTask("late", options: .late) { print("late") }
while launch.state(ofTask: "late") != .done { await Task.yield() }
for key in ["first", "fails", "left out"] { print(launch.state(ofTask: key)!) }

let essential = session.launch("essential")
essential.addTask("fails", options: .essential) { throw CancellationError() }
essential.addTask("later") { fatalError() }
print(await essential.begin().problem!.code, essential.state(ofTask: "later")!)

session.watchMainActor()
session.watchTaskPool()
try session.watchMemory(nearPercent: 90)
session.log(.info, "a breadcrumb")
print(session.annotate("key", "value"), session.withDeadline("job", limit: .seconds(1)) { 5 })
do { _ = try Simulation() } catch { print(error.code) }
do { _ = try RunReport(path: "/proc/self/exe") } catch { print(error.code.name, error) }
session.stop()
