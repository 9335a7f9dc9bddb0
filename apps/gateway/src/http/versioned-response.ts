import { ServerResponse, type IncomingMessage } from 'node:http'

/** Node calls it with the first line of an answer: no part of its public interface. */
interface HeadWriter {
  readonly _storeHeader: (this: ServerResponse, firstLine: string, headers: unknown) => void
}

const storeHeader = (ServerResponse.prototype as unknown as HeadWriter)._storeHeader

/** Answers a request of HTTP/1.0 with HTTP/1.0, as gearmand does; Node says 1.1 to all. */
export class VersionedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  _storeHeader(firstLine: string, headers: unknown): void {
    const isOld = this.req.httpVersion === '1.0'
    const line = isOld ? firstLine.replace(/^HTTP\/1\.1/, 'HTTP/1.0') : firstLine
    storeHeader.call(this, line, headers)
  }
}
