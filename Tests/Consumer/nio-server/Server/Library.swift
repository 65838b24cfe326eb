import NIOCore
import NIOHTTP1

/// Answers /0, /1 and /2 with a book, and /crash with one that is not there.
final class Library: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let books = ["Emma", "Middlemarch", "Ulysses"]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let request) = unwrapInboundIn(data) else { return }
        let answer = context.channel.allocator.buffer(string: book(at: request.uri))
        let headers = HTTPHeaders([("content-length", "\(answer.readableBytes)"), ("connection", "close")])
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: request.version, status: .ok, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(answer))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func book(at uri: String) -> String {
        let number = uri == "/crash" ? books.count : Int(uri.dropFirst()) ?? 0
        return books[number]  // The bug of this program.
    }
}
