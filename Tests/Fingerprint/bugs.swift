// Bugs of Swift, each by its name.
import Glibc

struct Track {
    var title: String?
    var seconds: [Int]
}

@inline(never) func length(_ track: Track, _ index: Int, _ way: String) -> Int {
    if way == "fatal" {
        fatalError("a track without a file")
    }
    let first = track.seconds[index]
    if way == "fatal later" {
        fatalError("a track without a name")
    }
    let title = track.title!
    if way == "precondition" {
        precondition(title.isEmpty, "a track has a title")
    }
    return first + title.utf8.count
}

@inline(never) func show(_ track: Track, _ index: Int, _ way: String) {
    print(length(track, index, way))
}

@inline(never) func list(_ track: Track, _ index: Int, _ way: String) {
    print(length(track, index, way) + 1)
}

@inline(never) func element(_ numbers: [Int], _ index: Int) async -> Int {
    await Task.yield()  // from here on the callers are not on the stack
    return numbers[index]
}

@inline(never) func first(_ track: Track) async {
    print(await element(track.seconds, 0))
}

@inline(never) func second(_ track: Track) async {
    print(await element(track.seconds, 1) + 1)
}

func run(_ work: @escaping @Sendable () async -> Void) -> Never {
    Task(operation: work)
    while true { _ = pause() }
}

@_cdecl("swift_bug") public func swiftBug(_ name: UnsafePointer<CChar>) {
    let way = unsafe String(cString: name)
    let track = Track(title: way == "nil" ? nil : "name", seconds: way == "index" || way == "index 90" ? [] : [1, 2])
    if way == "async first" || way == "async second" {
        let empty = Track(title: nil, seconds: [])
        run { if way == "async first" { await first(empty) } else { await second(empty) } }
    }
    if way == "fatal other caller" {
        list(track, 0, "fatal")
    } else {
        show(track, way == "index 90" ? 90 : 0, way)
    }
}
