import ArgumentParser

/// Options of every command.
package struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object on each line.")
    package var json = false

    package init() {}
}
