extension Launch.Configuration {
    /// The first value that is another one, or the first closure of the other configuration, in
    /// words; `nil` where all values are equal and the other one has no closure.
    func difference(to other: Self) -> String? {
        for (mine, its) in zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children) {
            let label = mine.label ?? "configuration"
            // A closure, in contrast to all values, is not Hashable.
            let (old, new) = (mine.value as? AnyHashable, its.value as? AnyHashable)
            if new == nil, !Mirror(reflecting: its.value).children.isEmpty {
                return "closures cannot be compared, and this configuration has \(label): keep the launch, or ask for it by its name alone"
            }
            if old != new { return "its \(label) is \(mine.value), not \(its.value)" }
        }
        return nil
    }

    /// The same without closures: a launch that is over keeps none.
    var values: Self {
        var values = self
        (values.onDecide, values.onReport, values.onHold, values.onGiveUp, values.onStatus) = (nil, nil, nil, nil, nil)
        return values
    }
}
