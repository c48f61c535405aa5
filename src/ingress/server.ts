// The listeners of the ingress, each with HTTP/1.1 and HTTP/2: a plain port, and a TLS port with the certificate of the name
// that the client asks for. Both have the same limits, and drain alike.
import type { IncomingMessage, Server } from 'node:http'
import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import { limitKeyUpdates } from '#base/limit-key-updates.ts'
import { TLS_SERVER } from '#base/tls-server.ts'
import { createServer } from '#base/node-http.ts'
import { onceDone } from '#base/once-done.ts'
import { limitAddresses } from '#http/address-limit.ts'
import { owesAnswer } from '#http/empty-reads.ts'
import type { RequestLines } from '#http/request-lines.ts'
import { CONNECTION_CHECK_MS, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '#http/limits.ts'
import { DRAIN_MS } from '#node/stop-budget.ts'
import { answerRequest, answerUpgrade, type IngressDeps } from './answer.ts'
import type { IngressRequest, IngressResponse } from './exchange.ts'
import { divertHttp2 } from './first-bytes.ts'
import { HTTP2_OPTIONS, limitSessions } from './http2-sessions.ts'
import { markStrangers } from './mark-strangers.ts'
import {
  ROUTED_HEADER_BYTES_MAX,
  ROUTED_HEADERS_MAX,
  ROUTED_SILENCE_MS_MAX,
} from './listener-limits.ts'

const CONNECTIONS_MAX = 2000
const CONNECTIONS_OF_ADDRESS_MAX = 200

export interface IngressServer {
  readonly port: number
  /** Accepts nothing more; resolves when no connection is left. */
  drain(): Promise<void>
}

export type IngressServerDeps = IngressDeps & {
  readonly listen: { readonly host: string; readonly port: number }
  /** Of all listeners: their limit is that of the process. */
  readonly lines: RequestLines
}

/** Listens in the clear; rejects when the address is taken. */
export async function listenPlain(deps: IngressServerDeps): Promise<IngressServer> {
  const server = createServer({
    maxHeaderSize: ROUTED_HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    // A body may take as long as the code does, which ends the request.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    // Our own check answers, with a body.
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
    shouldUpgradeCallback: asksForWebSocket,
  })
  answerAll(server, deps)
  server.maxHeadersCount = ROUTED_HEADERS_MAX
  server.timeout = ROUTED_SILENCE_MS_MAX
  let closeSessions = () => {}
  const ofHttp2 = onceDone(async () => {
    // Loaded by the first client that speaks it.
    const { createServer: createHttp2Server } = await import('node:http2')
    const made = createHttp2Server(HTTP2_OPTIONS)
    answerAll(made, deps)
    closeSessions = limitSessions(made, deps.nobody)
    return made
  })
  const closeSilent = divertHttp2(server, (socket) => {
    void ofHttp2().then((made) => made.emit('connection', socket))
  })
  return await open(server, deps, () => {
    closeSilent()
    server.closeIdleConnections()
    closeSessions()
  })
}

/** Finds the certificate of a name; undefined where there is none: the client gets an alert. */
export type ContextOf = (name: string) => SecureContext | undefined

/** Listens with TLS. */
export async function listenTls(
  deps: IngressServerDeps,
  contextOf: ContextOf,
): Promise<IngressServer> {
  // Loaded only where there are certificates.
  const { createSecureServer } = await import('node:http2')
  const server = createSecureServer({
    allowHTTP1: true,
    ...TLS_SERVER,
    handshakeTimeout: HEADERS_TIMEOUT_MS,
    SNICallback: (name, done) => done(null, contextOf(name.toLowerCase())),
    ...HTTP2_OPTIONS,
  })
  // Each connection reads these members of the server; the options do not have all of them.
  Object.assign(server, {
    maxHeaderSize: ROUTED_HEADER_BYTES_MAX,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeadersCount: ROUTED_HEADERS_MAX,
    shouldUpgradeCallback: asksForWebSocket,
  })
  answerAll(server, deps)
  server.on('secureConnection', (socket) => {
    deps.nobody.mark()
    limitKeyUpdates(socket, 'client')
    markStrangers(socket, deps.nobody)
  })
  server.on('tlsClientError', (_error, socket) => {
    socket.destroy()
    deps.nobody.mark()
  })
  return await open(server, deps, limitSessions(server, deps.nobody))
}

/** A fault of an answer ends its connection, or its stream of HTTP/2, and not the process. */
function answerAll(
  server: Server | Http2Server | Http2SecureServer,
  { lines, ...deps }: IngressServerDeps,
): void {
  const guard = ({ socket }: IngressRequest, answered: Promise<void>) =>
    answered.catch((error: unknown) => {
      deps.log.error('A request could not be answered', { error })
      socket.destroy()
    })
  server.on('request', (request: IngressRequest, response: IngressResponse) => {
    const answer = () => void guard(request, answerRequest(request, response, deps))
    if ('stream' in request) return answer()
    lines.add(request, () => {
      const gone = new Promise<void>((resolve) => response.once('close', resolve))
      answer()
      return gone
    })
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    guard(request, answerUpgrade(request, { socket, head }, deps)),
  )
}

/**
 * Other protocols are not entered into: the request is an ordinary one. So is one that comes before the answer to an earlier
 * request of its connection: no answer is lost.
 */
const asksForWebSocket = ({ headers, socket }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' && !owesAnswer(socket)

async function open(
  server: Server | Http2SecureServer,
  { listen, trusts, nobody }: IngressServerDeps,
  closeIdle: () => void,
): Promise<IngressServer> {
  server.maxConnections = CONNECTIONS_MAX
  limitAddresses(server, CONNECTIONS_OF_ADDRESS_MAX, trusts)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Connections without a request, and those that are no HTTP, are no instance's.
    nobody.mark()
    markStrangers(socket, nobody)
    socket.once('close', () => {
      sockets.delete(socket)
      nobody.mark()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : listen.port,
    async drain() {
      const cut = setTimeout(() => sockets.forEach((socket) => socket.destroy()), DRAIN_MS)
      const closed = new Promise((resolve) => server.close(resolve))
      closeIdle()
      await closed
      clearTimeout(cut)
    },
  }
}
