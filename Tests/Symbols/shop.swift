// A program that traps in a function that is inlined. The test finds the lines by the marks at
// their ends.
@inline(__always) func inner(_ number: Int) -> Int {
    number * 3  // inner
}

struct Shelf {
    var price: Int

    @inline(never) func outer(_ count: Int) -> Int {
        inner(price) &+ count  // outer
    }
}

let shelf = Shelf(price: CommandLine.arguments.count + Int.max / 2)
print(shelf.outer(2))  // main
