import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Listens on the loopback address until it is asked to shut down.
struct EchoServer: Service {
    let port: Int
    let greetings: Greetings
    private let logger = Logger(label: "server")
    private let ports = AsyncStream.makeStream(of: Int.self)

    init(port: Int, greetings: Greetings) {
        self.port = port
        self.greetings = greetings
    }

    func run() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let bound = server.channel.localAddress?.port ?? port
        logger.info("listening", metadata: ["port": "\(bound)"])
        ports.continuation.yield(bound)
        try await withGracefulShutdownHandler {
            try await withThrowingDiscardingTaskGroup { group in
                try await server.executeThenClose { clients in
                    for try await client in clients { group.addTask { await serve(client) } }
                }
            }
        } onGracefulShutdown: {
            server.channel.close(promise: nil)
        }
        logger.info("closed")
    }

    func waitUntilItListens() async throws {
        for await _ in ports.stream { return }
        throw CancellationError()
    }

    private func serve(_ client: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async {
        do {
            try await client.executeThenClose { lines, answers in
                for try await line in lines {
                    var answer = ByteBuffer(string: greetings.next + ", ")
                    answer.writeImmutableBuffer(line)
                    try await answers.write(answer)
                }
            }
        } catch {
            logger.warning("a client was lost", error: error)
        }
    }
}
