// A request and its answer, of HTTP/1.1 or HTTP/2.
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest, Http2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'

export type IngressRequest = IncomingMessage | Http2ServerRequest

/** The methods that answers of node:http and of the compatible API of node:http2 have in common. */
export interface IngressResponse {
  readonly req: Pick<IngressRequest, 'method' | 'httpVersion'>
  readonly headersSent: boolean
  readonly writableEnded: boolean
  statusCode: number
  statusMessage: string
  setHeader(name: string, value: string | string[]): unknown
  writeHead(status: number, headers: Record<string, string | string[] | number> | string[]): unknown
  flushHeaders(): void
  write(chunk: Buffer): boolean
  end(): unknown
  end(text: string): unknown
  end(last: string | Buffer, encoding: 'latin1'): unknown
  addTrailers(headers: Record<string, string | string[]>): void
  on(event: 'drain', listener: () => void): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
  destroy(): unknown
  /** The stream of the answer, in HTTP/2 alone. */
  readonly stream?: Pick<Http2Stream, 'close'>
}

/** Ends an answer that has begun, so that its client sees that there is not all of it. */
export function cutOff(response: IngressResponse): void {
  // Its destroy() would close the stream as after a whole answer.
  if (response.req.httpVersion === '2.0') response.stream?.close(INTERNAL_ERROR)
  else response.destroy()
}

/** NGHTTP2_INTERNAL_ERROR. */
const INTERNAL_ERROR = 2

/** The connection of a request for another protocol, and the bytes behind the request. */
export type UpgradeSocket = { readonly socket: Duplex; readonly head: Buffer }

export const isHttp2 = ({ httpVersionMajor }: IngressRequest): boolean => httpVersionMajor === 2

/** The name and port that the client asked for; empty where it named none. */
export const hostOfRequest = (request: IngressRequest): string =>
  (isHttp2(request) ? String(request.headers[':authority'] ?? '') : request.headers.host) ?? ''

export const isEncrypted = ({ socket }: IngressRequest): boolean =>
  'encrypted' in socket && socket.encrypted === true
