internal import LaunchGuardPlatform

/// Draws moments on an axis that ends with the run. The last moments matter most: the axis is
/// logarithmic, so that the last milliseconds have as much room as the first hours.
struct TimeAxis {
    private let marks: [(time: UInt64, level: Importance)]
    private let end: UInt64
    private let endName: String
    /// The longest and the shortest distance from the end on the axis, in nanoseconds.
    private let longest: UInt64
    private static let shortest = 10_000.0
    private static let width = 1000.0, lane = 24.0, top = 8.0
    /// Marks closer than this are drawn as one.
    private static let columns = 200.0

    init(_ marks: [(UInt64, Importance)], end: UInt64, endName: String) {
        self.marks = marks
        self.end = end
        self.endName = endName
        longest = marks.reduce(UInt64(Self.shortest) * 10) { max($0, $1.0 < end ? end - $1.0 : 0) }
    }

    func write(to page: inout HTMLWriter) {
        let lanes = Array(Importance.allCases.reversed())
        let floor = Self.top + Self.lane * Double(lanes.count)
        page.element("figure", ["class": "drawing"]) {
            $0.element("figcaption", [:], "Time before \(endName), logarithmic; a bar is as high as it has breadcrumbs")
            let words = "\(marks.count) breadcrumbs over \(longest.durationText) before \(endName)"
            $0.element("div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Breadcrumbs by time"]) {
                $0.element("svg", ["viewBox": "-90 0 1170 \(Int(floor) + 26)", "role": "img", "aria-label": words, "class": "axis"]) {
                    for (index, level) in lanes.enumerated() {
                        let y = Self.top + Self.lane * (Double(index) + 1)
                        $0.shape("line", ["class": "lane", "x1": "0", "x2": "1000", "y1": y.text, "y2": y.text])
                        $0.element("text", ["x": "-8", "y": (y - 5).text, "class": "label start"], level.name)
                        $0.element("text", ["x": "1010", "y": (y - 5).text, "class": "label left far"], level.name)
                        writeBars(of: level, at: y, to: &$0)
                    }
                    writeTicks(at: floor, to: &$0)
                    $0.shape("line", ["class": "end", "x1": "1000", "x2": "1000", "y1": "0", "y2": floor.text])
                    $0.element("text", ["x": "1000", "y": (floor + 18).text, "class": "label end"], endName)
                }
            }
        }
    }

    private func writeBars(of level: Importance, at y: Double, to page: inout HTMLWriter) {
        var counts: [Int: Int] = [:]
        for mark in marks where mark.level == level {
            counts[Int(place(of: mark.time < end ? Double(end - mark.time) : 0) / Self.width * (Self.columns - 1)), default: 0] += 1
        }
        for (column, count) in counts.sorted(by: { $0.key < $1.key }) {
            let height = min(20, 6 + 3.5 * log2(Double(count)))
            let x = Double(column) * Self.width / Self.columns
            page.shape("rect", ["class": level.rawValue, "x": x.text, "y": (y - height).text, "width": "4.4", "height": height.text, "rx": "1"])
        }
    }

    private func writeTicks(at floor: Double, to page: inout HTMLWriter) {
        let units: [(Double, String)] = [
            (1e5, "100 µs"), (1e6, "1 ms"), (1e7, "10 ms"), (1e8, "100 ms"), (1e9, "1 s"), (1e10, "10 s"), (6e10, "1 min"), (6e11, "10 min"), (3.6e12, "1 h"),
            (3.6e13, "10 h"), (8.64e13, "1 d"), (8.64e14, "10 d"), (8.64e15, "100 d"),
        ]
        var last = Self.width
        for (nanoseconds, name) in units where nanoseconds > Self.shortest && nanoseconds <= Double(longest) {
            let x = place(of: nanoseconds)
            page.shape("line", ["class": "tick", "x1": x.text, "x2": x.text, "y1": Self.top.text, "y2": (floor + 4).text])
            // A name has room only beside the next one.
            if last - x > 70 { page.element("text", ["x": x.text, "y": (floor + 18).text, "class": "label"], name) }
            if last - x > 70 { last = x }
        }
    }

    /// Where a distance from the end stands, in units of the drawing.
    private func place(of distance: Double) -> Double {
        Self.width * (1 - log10(max(distance, Self.shortest) / Self.shortest) / log10(Double(longest) / Self.shortest))
    }
}

extension Double {
    /// With one decimal place, as a drawing needs it.
    var text: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
