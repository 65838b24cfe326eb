// The cost of guarded operations in a Swift program: not used, off, and on; on one thread and on
// two at once: bench-guards-swift DIR ROUNDS. Build it with -c release.
import Dispatch
import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardObservers
import Synchronization

guard CommandLine.arguments.count == 3, let rounds = Int(CommandLine.arguments[2]), rounds > 0 else { exit(2) }
var configuration = Session.Configuration(appID: "org.example.bench")
configuration.stateDirectory = CommandLine.arguments[1]
let session = try Session.start(configuration)

/// A value that the optimiser cannot see through.
@inline(never) @_optimize(none) func opaque<Value>(_ value: Value) -> Value { value }

/// Data of the operations. Each thread has its own: the benchmark measures the guard, not the
/// sharing of data.
@safe
final class Work {
    final class Owner: Sendable {
        let events = Atomic(0)
        func count() { events.add(1, ordering: .relaxed) }
    }

    let indices = (0..<1000).map { opaque($0 * 7 % 1000) }, values = (0..<1000).map { opaque($0) }
    let keys = (0..<1000).map { opaque($0 % 64) }, dictionary = Dictionary(uniqueKeysWithValues: (0..<64).map { ($0, opaque($0)) })
    let numbers = (0..<1000).map { opaque(Int32($0 + 1)) }, factor = opaque(Int32(3))
    let reals = (0..<1000).map { opaque(Double($0) + 0.5) }
    var sum = 0, stored = [Int](repeating: 0, count: 1000)

    let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
    var copy: [UInt8] = []

    let owner = Owner()
    let observers = Observers<Int>(), plainObservers = Mutex<[@Sendable (Int) -> Void]>([])
    let confined = MainConfined(0)
    let source = DispatchSource.makeTimerSource(), guardedSource = GuardedSource(DispatchSource.makeTimerSource())

    init() {
        unsafe page.initializeMemory(as: UInt8.self, repeating: 1)
        observers.add(owner) { owner, _ in owner.count() }
        plainObservers.withLock { observers in observers.append { [weak owner] _ in owner?.count() } }
        source.resume()
        guardedSource.resume()
    }

    deinit {
        source.cancel()
        unsafe page.deallocate()
    }

    func times(_ count: Int, _ operation: () -> Void) {
        for _ in 0..<count { operation() }
    }
}

enum Main {
    @MainActor static var value = 0
}

struct Operation {
    let name: String
    /// Operations of one batch.
    let count: Int
    var mayBeElsewhere = true
    let plain, guarded: @Sendable (Work) -> Void
}

let operations = [
    Operation(name: "array[index]", count: 1000) { work in
        let values = work.values
        var sum = 0
        for index in work.indices { sum &+= values[index] }
        work.sum = sum
    } guarded: { work in
        let values = work.values
        var sum = 0
        for index in work.indices { sum &+= values[guarded: index] ?? 0 }
        work.sum = sum
    },
    Operation(name: "array[index] = value", count: 1000) { work in
        for index in work.indices { work.stored[index] = index }
    } guarded: { work in
        for index in work.indices { work.stored[guarded: index] = index }
    },
    Operation(name: "array[range]", count: 1000) { work in
        let values = work.values
        var sum = 0
        for index in work.indices { sum &+= values[index / 2..<index].count }
        work.sum = sum
    } guarded: { work in
        let values = work.values
        var sum = 0
        for index in work.indices { sum &+= values[clamped: index / 2..<index].count }
        work.sum = sum
    },
    Operation(name: "dictionary[key]!", count: 1000) { work in
        let dictionary = work.dictionary
        var sum = 0
        for key in work.keys { sum &+= dictionary[key]! }
        work.sum = sum
    } guarded: { work in
        let dictionary = work.dictionary
        var sum = 0
        for key in work.keys { sum &+= dictionary[guarded: key] ?? 0 }
        work.sum = sum
    },
    Operation(name: "Int32 addition", count: 1000) { work in
        var sum = work.factor
        for number in work.numbers { sum = (sum + number) & 0xffff }
        work.sum = Int(sum)
    } guarded: { work in
        var sum = work.factor
        for number in work.numbers { sum = sum.adding(guarded: number) & 0xffff }
        work.sum = Int(sum)
    },
    Operation(name: "Int32 multiplication", count: 1000) { work in
        var product = work.factor
        for number in work.numbers { product = (product * number) & 0xfff }
        work.sum = Int(product)
    } guarded: { work in
        var product = work.factor
        for number in work.numbers { product = product.multiplied(guarded: number) & 0xfff }
        work.sum = Int(product)
    },
    Operation(name: "Int32 division", count: 1000) { work in
        var quotient = work.factor
        for number in work.numbers { quotient = 0x10000 | quotient / number }
        work.sum = Int(quotient)
    } guarded: { work in
        var quotient = work.factor
        for number in work.numbers { quotient = 0x10000 | quotient.divided(guarded: number) }
        work.sum = Int(quotient)
    },
    Operation(name: "Int(Double)", count: 1000) { work in
        var sum = 0
        for real in work.reals { sum &+= Int(real) }
        work.sum = sum
    } guarded: { work in
        var sum = 0
        for real in work.reals { sum &+= Int(guarded: real) }
        work.sum = sum
    },
    Operation(name: "copy of 4 KiB into an array", count: 100) { work in
        work.times(100) { work.copy = unsafe [UInt8](work.page) }
    } guarded: { work in
        work.times(100) { work.copy = unsafe (try? guardedRead(from: UnsafeRawBufferPointer(work.page))) ?? [] }
    },
    Operation(name: "event to one observer with a weak owner", count: 500) { work in
        work.times(500) {
            for handler in work.plainObservers.withLock({ $0 }) { handler(1) }
        }
    } guarded: { work in
        work.times(500) { work.observers.post(1) }
    },
    Operation(name: "change of a value of the main thread", count: 500, mayBeElsewhere: false) { work in
        work.times(500) {
            MainActor.assumeIsolated { Main.value += 1 }
        }
    } guarded: { work in
        work.times(500) { work.confined.update { $0 += 1 } }
    },
    Operation(name: "call of a function of the main actor", count: 500, mayBeElsewhere: false) { work in
        work.times(500) {
            MainActor.assumeIsolated { Main.value += 1 }
        }
    } guarded: { work in
        work.times(500) {
            MainActor.assumeIsolatedGuarded { Main.value += 1 }
        }
    },
    Operation(name: "timer, made and cancelled", count: 50) { work in
        work.times(50) {
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now() + 60, repeating: 60)
            timer.setEventHandler { [weak owner = work.owner] in owner?.count() }
            timer.activate()
            timer.cancel()
        }
    } guarded: { work in
        work.times(50) {
            GuardedTimer(owner: work.owner, every: .seconds(60), on: .global()) { owner in owner.count() }.cancel()
        }
    },
    Operation(name: "dispatch source, suspended and resumed", count: 500) { work in
        work.times(500) {
            work.source.suspend()
            work.source.resume()
        }
    } guarded: { work in
        work.times(500) {
            work.guardedSource.suspend()
            work.guardedSource.resume()
        }
    },
]

// MARK: Measuring

@Sendable func nanoseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// Time of one operation, on a thread of so many that begin together. A short run warms up.
@Sendable func time(_ batch: (Work) -> Void, _ count: Int, _ ready: borrowing Atomic<Int>, _ threads: Int) -> Double {
    let work = Work()
    batch(work)
    ready.add(1, ordering: .relaxed)
    while ready.load(ordering: .relaxed) < threads { sched_yield() }
    let begin = nanoseconds()
    for _ in 0..<10 { batch(work) }
    return Double(nanoseconds() - begin) / Double(10 * count)
}

final class Meeting: Sendable {
    let ready = Atomic(0)
}

/// On this thread, while another one does the same where there are two.
func measure(_ batch: @escaping @Sendable (Work) -> Void, _ count: Int, threads: Int) -> Double {
    let meeting = Meeting(), other = DispatchGroup()
    if threads > 1 {
        DispatchQueue.global().async(group: other) { _ = time(batch, count, meeting.ready, threads) }
    }
    defer { other.wait() }
    return time(batch, count, meeting.ready, threads)
}

enum Way: Int, CaseIterable { case plain, off, on }

/// A row of series for each operation: one series for each way.
@MainActor func compare(threads: Int) throws -> [[[Double]]] {
    var series = operations.map { _ in Way.allCases.map { _ in [Double]() } }
    for _ in 0...rounds {
        for index in operations.indices.shuffled() where threads == 1 || operations[index].mayBeElsewhere {
            let operation = operations[index]
            for way in Way.allCases.shuffled() {
                if way == .on {
                    var configuration = Guards.Configuration()
                    configuration.classes.insert(.arithmetic)
                    try session.guards.start(configuration)
                }
                let ns = measure(way == .plain ? operation.plain : operation.guarded, operation.count, threads: threads)
                session.guards.stop()
                series[index][way.rawValue].append(ns)
            }
        }
    }
    return series
}

/// Quartiles and median; the first round warms up.
func summary(_ values: [Double]) -> (quartile: Double, median: Double, third: Double) {
    let sorted = values.dropFirst().sorted()
    return (sorted[(sorted.count - 1) / 4], sorted[(sorted.count - 1) / 2], sorted[(sorted.count - 1) * 3 / 4])
}

func column(_ figure: Double, _ width: Int) -> String {
    let hundredths = Int((figure * 100).rounded()), digits = "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10)"
    return String(repeating: " ", count: max(1, width - digits.count)) + digits
}

for threads in [1, 2] {
    print("\nIn Swift, \(threads == 1 ? "one thread" : "two threads at once"), ns; ratio of on to plain")
    print("                                                 plain       off        on   ratio   25 %   75 %")
    for (operation, series) in zip(operations, try compare(threads: threads)) where !series[0].isEmpty {
        var line = "  " + operation.name + String(repeating: " ", count: max(0, 42 - operation.name.count))
        for values in series { line += column(summary(values).median, 10) }
        let ratio = summary(zip(series[Way.on.rawValue], series[0]).map { $0 / $1 })
        line += " " + column(ratio.median, 7) + column(ratio.quartile, 7) + column(ratio.third, 7)
        print(line)
    }
}
