// The listening socket: node:http with every time-out and size set, the parser's own errors answered
// with the energy headers too, and a drain that fails no request.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { ErgonError } from '#base/errors.ts'
import { createServer, STATUS_CODES } from '#base/node-http.ts'
import { fault, type Code } from '#contract/errors.ts'
import { limitAddresses, type Trusts } from './address-limit.ts'
import { BODY_MEMORY_BYTES, createBodyMemory } from './body-memory.ts'
import { Exchange } from './exchange.ts'
import { markReads } from './empty-reads.ts'
import * as limits from './limits.ts'
import { answer, type PipelineDeps } from './pipeline.ts'
import { createConnections } from './connections.ts'
import { rawRefusal } from './send.ts'
import { createUnsentReplies } from './unsent-replies.ts'

// A client may be about to use a kept connection: for this time answers ask the client to close it.
const DRAIN_NOTICE_MS = 400
const DRAIN_MS = 15_000
const CUT_MS = 1000

export interface HttpServer {
  readonly port: number
  /**
   * Stops accepting, lets running requests end within the limit, cuts the others, then closes what is left.
   */
  drain(limitMs?: number): Promise<void>
}

const PARSER = {
  maxHeaderSize: limits.HEADER_BYTES_MAX,
  headersTimeout: limits.HEADERS_TIMEOUT_MS,
  // Objects of any size arrive as slowly as their sender's line is; JSON bodies have a time of their own.
  requestTimeout: 0,
  keepAliveTimeout: limits.KEEP_ALIVE_MS,
  connectionsCheckingInterval: limits.CONNECTION_CHECK_MS,
  noDelay: true,
  insecureHTTPParser: false,
  // Our own check answers, with a body.
  requireHostHeader: false,
} as const

type ListenDeps = PipelineDeps & {
  readonly host: string
  readonly port: number
  readonly shared: boolean
  readonly silenceMs?: number
  readonly unreadMs?: number
  readonly unsentBytesMax?: number
  readonly waitingBytesMax?: number
  readonly bodyMemoryBytes?: number
  readonly networkConnectionsMax?: number
  readonly trusts?: Trusts
}

/** Listens; rejects when the address is taken. */
export async function listen(deps: ListenDeps): Promise<HttpServer> {
  const memory = createBodyMemory(deps.bodyMemoryBytes ?? BODY_MEMORY_BYTES)
  const { unsentBytesMax: bytesMax, unreadMs, waitingBytesMax } = deps
  const answering = { ...deps, unsent: createUnsentReplies({ bytesMax, unreadMs }) }
  const connections = createConnections({
    waitingBytesMax,
    answer: (exchange) => answer(exchange, answering),
    refuse: (socket, refusal) => refuseRaw(socket, refusal, deps),
  })
  let draining = false
  const server = createServer(PARSER, accept)
  setLimits(server, deps)
  server.on('connection', (socket: Socket) =>
    markReads(socket, {
      empty: () => deps.charging.absorb(),
      ofRequest: () => connections.newest(socket)?.spend?.markRead(),
    }),
  )
  server.on('checkContinue', accept)
  server.on('checkExpectation', accept)
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy()
    else connections.failed(socket, refusalOf(error))
  })
  server.on('connect', (_request, socket: Socket) =>
    refuseRaw(socket, malformed('CONNECT is for proxies'), deps),
  )
  await bind(server, deps)

  function accept(
    request: ConstructorParameters<typeof Exchange>[0],
    response: ConstructorParameters<typeof Exchange>[1],
  ) {
    if (draining) response.setHeader('Connection', 'close')
    const { DEADLINE_MS: deadlineMs } = limits
    connections.add(request, () => new Exchange(request, response, { deadlineMs, memory }))
  }

  return {
    get port() {
      const address = server.address()
      return typeof address === 'object' && address !== null ? address.port : deps.port
    },
    async drain(limitMs = DRAIN_MS) {
      draining = true
      await pause(Math.min(DRAIN_NOTICE_MS, limitMs))
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await Promise.race([connections.idle(), late(limitMs)])
      deps.charging.drain()
      await Promise.race([connections.idle(), late(CUT_MS)])
      server.closeAllConnections()
      await closed
    },
  }
}

function setLimits(server: Server, deps: ListenDeps): void {
  server.maxHeadersCount = limits.HEADERS_MAX
  server.maxConnections = limits.CONNECTIONS_MAX
  server.timeout = deps.silenceMs ?? limits.SILENCE_MS_MAX
  const ofNetwork = deps.networkConnectionsMax ?? limits.CONNECTIONS_OF_NETWORK_MAX
  limitAddresses(server, ofNetwork, deps.trusts)
}

/** It keeps no process alive: while there is a connection to wait for, that does. */
const late = (ms: number) => pause(ms, undefined, { ref: false })

function bind(server: Server, { host, port, shared }: ListenDeps): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, reusePort: shared }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

type ParserError = Error & { readonly code?: string }

const PARSER_CODES: Record<string, Code> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

const malformed = (detail: string) =>
  fault('malformed_request', `Could not read the request: ${detail}`)

const refusalOf = (error: ParserError) =>
  fault(
    PARSER_CODES[error.code ?? ''] ?? 'malformed_request',
    `Could not read the request: ${error.message}`,
  )

/** Answers where no response object exists, and closes. */
function refuseRaw(socket: Socket, refusal: ErgonError, deps: PipelineDeps): void {
  // After a CONNECT nobody hears the socket's errors: a reset would end the process.
  socket.on('error', () => socket.destroy())
  // An answer that closes was written already.
  if (!socket.writable) return socket.destroySoon()
  const spend = deps.charging.open()
  const charge = spend.settle(refusal.status)
  deps.refusals.add(spend.requestId, refusal)
  const rendered = deps.fallback.render(refusal, spend)
  const reason = STATUS_CODES[refusal.status] ?? 'Error'
  const { requestId } = spend
  const protocolHeaders = deps.fallback.headers ?? []
  const { status } = refusal
  spend.recorded((failure) => {
    if (failure !== undefined) return socket.destroy()
    socket.end(rawRefusal({ status, reason, charge, rendered, requestId, protocolHeaders }))
    socket.destroySoon()
    spend.written()
  })
}
