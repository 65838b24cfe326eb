// The crash of scene.c in a Swift program: the Swift runtime's own backtracer, which
// SWIFT_BACKTRACE turns on.
scene_open(CommandLine.argc, CommandLine.unsafeArgv)
scene_play()
