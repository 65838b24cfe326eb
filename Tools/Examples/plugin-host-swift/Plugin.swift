// A plugin of a program for pictures. Its author was in a hurry.
import Dispatch
import LaunchGuardGuards
import LaunchGuardObservers
import Synchronization

final class Plugin: Sendable {
    /// UTF-8. (These bytes are Latin-1.)
    let title = Array("Caf".utf8) + [0xe9]
    /// The index of one of so many colours.
    func chooseColour(of count: Int) -> Int { count + 2 }
    /// A theme of the host. (It has none of this name.)
    let theme = "mauve"
    /// With the country, for example "de_AT".
    let language = "de"
    /// Pixels of a side.
    let side: Int32 = 60_000
    /// Frames in a second.
    let rate = 0

    /// Where 64 bytes of a preview are. (Nothing is there.)
    let preview: UInt = 0x10

    /// Pictures that were drawn or saved, as far as the plugin knows.
    let pictures = Atomic(0)
    func count() { pictures.add(1, ordering: .relaxed) }

    /// Observe which pictures are saved.
    func open(_ saved: Observers<String>) {
        saved.add(self) { plugin, _ in plugin.count() }
        saved.add(self) { plugin, _ in plugin.count() }
    }

    /// Observe no longer.
    func close(_ saved: Observers<String>) {
        saved.remove(self)
        saved.remove(self)
    }

    /// Draw a picture of an animation, 100 times in a second. (The timer knows no end.)
    func animate() -> GuardedTimer {
        GuardedTimer(owner: self, every: .milliseconds(10), on: .global()) { plugin in plugin.count() }
    }

    /// Save the picture every minute, but not now. (The source is dropped as it is.)
    func pauseSaving() {
        let source = GuardedSource(DispatchSource.makeTimerSource())
        source.resume()
        source.suspend()
    }

    /// Save the picture every minute.
    func saveEveryMinute() {
        let source = GuardedSource(DispatchSource.makeTimerSource())
        source.resume()
        source.resume()
    }

    /// Add a shape. (The canvas belongs to the main thread.)
    func paint(on canvas: MainConfined<[String]>, then done: @escaping @MainActor @Sendable (Int) -> Void) {
        DispatchQueue.global().async {
            canvas.update { shapes in
                shapes.append("circle")
                done(shapes.count)
            }
        }
    }

    /// Say when the picture is ready. (The host's function belongs to the main thread.)
    func render(then show: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue.global().async { MainActor.assumeIsolatedGuarded(show) }
    }
}
