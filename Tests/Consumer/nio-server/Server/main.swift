import Dispatch
import Glibc
import LaunchGuard
import NIOCore
import NIOPosix

// nio-server STATE: prints its port of 127.0.0.1 and its run file, and serves until SIGTERM.
let session = try Session.start(appID: "org.example.nio", stateDirectory: CommandLine.arguments[1])
let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
let server = try ServerBootstrap(group: group)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(Library())
        }
    }
    .bind(host: "127.0.0.1", port: 0).wait()

signal(SIGTERM, SIG_IGN)
let asked = DispatchSource.makeSignalSource(signal: SIGTERM)
asked.setEventHandler { @Sendable in server.close(promise: nil) }
// A signal that comes before that is ignored.
let hears = DispatchSemaphore(value: 0)
asked.setRegistrationHandler { @Sendable in _ = hears.signal() }
asked.resume()
hears.wait()
print(server.localAddress?.port ?? 0, session.runPath ?? "")
fflush(nil)
try server.closeFuture.wait()
try group.syncShutdownGracefully()
