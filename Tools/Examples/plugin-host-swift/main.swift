// A host of plugins that others wrote. Its plugin misbehaves in many ways, and the host goes on.
import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardObservers
import Synchronization

let usage = """
    usage: plugin-host-swift DIRECTORY                    all ways to misbehave, with guards
           plugin-host-swift DIRECTORY --no-guards WAY    one way without guards
           plugin-host-swift DIRECTORY --stop-guards WAY  one way with guards that were stopped
           plugin-host-swift --list                       the ways
    """

// MARK: Ways to misbehave

struct Way {
    let name: String
    /// - Returns: what the host made of it.
    let happens: @MainActor (Plugin) async -> String
}

let colours = ["red", "green", "blue"]
let themes = ["light": 255, "dark": 0]

let ways = [
    Way(name: "index") { plugin in
        "the colour is \(colours[guarded: plugin.chooseColour(of: colours.count)] ?? "black")"
    },
    Way(name: "key") { plugin in
        "the background has the grey \(themes[guarded: plugin.theme] ?? 128)"
    },
    Way(name: "overflow") { plugin in
        "the picture may have \(plugin.side.multiplied(guarded: plugin.side)) pixels"
    },
    Way(name: "division") { plugin in
        "a frame takes \(1000.divided(guarded: plugin.rate)) ms"
    },
    Way(name: "utf8") { plugin in
        "the title is \(String(guardedUTF8: plugin.title))"
    },
    Way(name: "range") { plugin in
        "the country of the language is '\(plugin.language[guarded: 3..<5])'"
    },
    Way(name: "observer-twice") { plugin in
        let saved = Observers<String>()
        plugin.open(saved)
        saved.post("a.png")
        return "pictures that the plugin has counted: \(plugin.pictures.load(ordering: .relaxed)) of 1"
    },
    Way(name: "observer-removed") { plugin in
        let saved = Observers<String>()
        saved.add(plugin) { _, _ in }
        plugin.close(saved)
        return "the plugin observes no longer"
    },
    Way(name: "observer-gone") { _ in
        let saved = Observers<String>()
        saved.add(Plugin()) { plugin, _ in plugin.count() }  // Nobody keeps it.
        saved.post("a.png")
        return "a picture is saved, and the plugin that observed it is gone"
    },
    Way(name: "timer-gone") { _ in
        let timer = Plugin().animate()
        while !timer.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        return "the animation ended with its plugin"
    },
    Way(name: "source-dropped") { plugin in
        plugin.pauseSaving()
        return "nothing is saved every minute"
    },
    Way(name: "source-resumed") { plugin in
        plugin.saveEveryMinute()
        return "the picture is saved every minute"
    },
    Way(name: "confined-value") { plugin in
        let canvas = MainConfined<[String]>([])
        let count = await withCheckedContinuation { shapes in
            plugin.paint(on: canvas) { count in shapes.resume(returning: count) }
        }
        return "the main thread has painted \(count) shape"
    },
    Way(name: "confined-call") { plugin in
        await withCheckedContinuation { shown in
            plugin.render { shown.resume() }
        }
        return "the main thread has shown the picture"
    },
    Way(name: "read") { plugin in
        let preview = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: plugin.preview), count: 64)
        let bytes = try? unsafe guardedRead(from: preview)
        return bytes == nil ? "the picture has no preview" : "the picture has a preview"
    },
]

// MARK: The host

let arguments = Array(CommandLine.arguments.dropFirst())
func column(_ text: String) -> String { text + String(repeating: " ", count: max(1, 18 - text.count)) }

if arguments == ["--list"] {
    for way in ways { print(way.name) }
    exit(0)
}
let way = arguments.count == 3 ? ways.first { $0.name == arguments[2] } : nil
let isPlain = arguments.count == 1 && !arguments[0].hasPrefix("-")
guard isPlain || way != nil && ["--no-guards", "--stop-guards"].contains(arguments[1]) else {
    print(usage)
    exit(2)
}

var configuration = Session.Configuration(appID: "org.example.plugin-host")
configuration.stateDirectory = arguments[0]
let session = try Session.start(configuration)

var guards = Guards.Configuration()
guards.classes.insert(.arithmetic)  // Wrong numbers do no harm here.
guards.policy = .survive  // In a debug build too: here the faults are wanted.
guards.isQuiet = true  // The events are printed below.
if isPlain || arguments[1] == "--stop-guards" { try session.guards.start(guards) }
if let way {
    session.guards.stop()
    print(column(way.name) + (await way.happens(Plugin())))
    exit(0)
}

@MainActor func liveThroughAll() async {
    var coming = session.guards.events.makeAsyncIterator(), events: [GuardEvent] = []
    for way in ways {
        print(column(way.name) + (await way.happens(Plugin())))
        if let event = await coming.next() { events.append(event) }
    }
    print("\n\(events.count) faults:")
    for event in events {
        print(column(event.guardClass.map { "\($0)" } ?? "?") + column(event.action.map { "\($0)" } ?? "?") + event.text)
    }
}
await liveThroughAll()
