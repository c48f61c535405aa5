// The listeners of the ingress: HTTP/1.1 on a plain port, and on a TLS port HTTP/2 too, with the certificate of the name that
// the client asks for. Both have the same limits, and drain alike.
import type { IncomingMessage, Server } from 'node:http'
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import { createServer } from '#base/node-http.ts'
import { FUNCTION_TIMEOUT_S_MAX } from '#contract/function-limits.ts'
import { limitAddresses } from '#http/address-limit.ts'
import { CONNECTION_CHECK_MS, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '#http/limits.ts'
import { answerRequest, answerUpgrade, type IngressDeps } from './answer.ts'
import type { IngressRequest, IngressResponse } from './exchange.ts'

const HEADER_BYTES_MAX = 32_768
const HEADERS_MAX = 200
const CONNECTIONS_MAX = 2000
const CONNECTIONS_OF_ADDRESS_MAX = 200
/** Requests that one connection of HTTP/2 may have under way. */
const STREAMS_MAX = 100
/** A connection on which nothing moves: longer than code may take to start and to answer. */
const SILENCE_MS_MAX = (FUNCTION_TIMEOUT_S_MAX + 90) * 1000
/** Requests that run may end; then they are cut. */
const DRAIN_MS = 5000

export interface IngressServer {
  readonly port: number
  /** Accepts nothing more; resolves when no connection is left. */
  drain(): Promise<void>
}

export type IngressServerDeps = IngressDeps & {
  readonly listen: { readonly host: string; readonly port: number }
}

/** Listens in the clear; rejects when the address is taken. */
export async function listenPlain(deps: IngressServerDeps): Promise<IngressServer> {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
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
  server.maxHeadersCount = HEADERS_MAX
  server.timeout = SILENCE_MS_MAX
  return await open(server, deps, () => server.closeIdleConnections())
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
    minVersion: 'TLSv1.2',
    handshakeTimeout: HEADERS_TIMEOUT_MS,
    SNICallback: (name, done) => done(null, contextOf(name.toLowerCase())),
    // Browsers open connections of HTTP/1.1 for WebSocket while no extended CONNECT is offered.
    settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: HEADER_BYTES_MAX },
    maxHeaderListPairs: HEADERS_MAX,
  })
  // Each connection reads these members of the server; the options do not have all of them.
  Object.assign(server, {
    maxHeaderSize: HEADER_BYTES_MAX,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeadersCount: HEADERS_MAX,
    shouldUpgradeCallback: asksForWebSocket,
  })
  answerAll(server, deps)
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  server.setTimeout(SILENCE_MS_MAX)
  const sessions = new Set<{ close(): void }>()
  server.on('session', (session) => {
    endUnused(session)
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  return await open(server, deps, () => sessions.forEach((session) => session.close()))
}

/** Ends a connection of HTTP/2 on which no request comes in time, as one of HTTP/1.1 is ended. */
function endUnused(session: ServerHttp2Session): void {
  let running = 0
  const rest = (ms: number) => setTimeout(() => session.close(), ms).unref()
  let timer = rest(HEADERS_TIMEOUT_MS)
  session.on('stream', (stream) => {
    running++
    clearTimeout(timer)
    stream.once('close', () => {
      if (--running === 0 && !session.closed) timer = rest(KEEP_ALIVE_MS)
    })
  })
  session.once('close', () => clearTimeout(timer))
}

/** A fault of an answer ends its connection, or its stream of HTTP/2, and not the process. */
function answerAll(server: Server | Http2SecureServer, deps: IngressDeps): void {
  const guard = ({ socket }: IngressRequest, answered: Promise<void>) =>
    answered.catch((error: unknown) => {
      deps.log.error('A request could not be answered', { error })
      socket.destroy()
    })
  server.on('request', (request: IngressRequest, response: IngressResponse) =>
    guard(request, answerRequest(request, response, deps)),
  )
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

/** The answer that a socket is given to is this member of it, by node:http. */
const owesAnswer = (socket: Socket & { readonly _httpMessage?: unknown }): boolean =>
  Boolean(socket._httpMessage)

async function open(
  server: Server | Http2SecureServer,
  { listen, trusts }: IngressServerDeps,
  closeIdle: () => void,
): Promise<IngressServer> {
  server.maxConnections = CONNECTIONS_MAX
  limitAddresses(server, CONNECTIONS_OF_ADDRESS_MAX, trusts)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
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
