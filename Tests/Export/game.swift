// Two threads, generics, a closure, and an index out of range in the innermost function.
import Glibc

struct Deck<Card> {
    var cards: [Card]

    @inline(never) func card(at index: Int) -> Card { cards[index] }
}

final class Game {
    var deck = Deck(cards: ["ace", "king", "queen"])

    @inline(never) func draw(_ number: Int) -> String {
        let drawn = (0..<number).map { deck.card(at: $0) }
        return drawn.joined(separator: " ")
    }

    @inline(never) func play(rounds: Int) -> Int {
        var total = 0
        for round in 1...rounds { total += draw(round).count }
        return total
    }
}

@inline(never) func wait(_ started: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let started { sem_post(started.assumingMemoryBound(to: sem_t.self)) }
    while true { pause() }
}

/// Whether a thread that is not this one sleeps: after its sem_post(), only in pause().
func otherSleeps() -> Bool {
    guard let tasks = opendir("/proc/self/task") else { return false }
    defer { closedir(tasks) }
    while let entry = readdir(tasks) {
        let name = withUnsafePointer(to: entry.pointee.d_name) { $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) } }
        guard let thread = pid_t(name), thread != getpid(), let stat = fopen("/proc/self/task/\(name)/stat", "r") else { continue }
        defer { fclose(stat) }
        while case let byte = getc(stat), byte != EOF { if byte == UInt8(ascii: ")") { return getc(stat) == 32 && getc(stat) == UInt8(ascii: "S") } }
    }
    return false
}

@main struct Main {
    static func main() {
        var thread = pthread_t()
        let started = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        guard sem_init(started, 0, 0) == 0, pthread_create(&thread, nil, { wait($0) }, started) == 0 else { exit(98) }
        while sem_wait(started) != 0 {}
        while !otherSleeps() { sched_yield() }
        print(Game().play(rounds: CommandLine.arguments.count + 9))
    }
}
