// The connections to one server and the rules of its requests: timeouts, retries, and the meaning of its refusals. The
// address is the operator's; nothing of it comes from a caller.
import { sleep, type Clock } from '#base/clock.ts'
import { hostOfUrl } from '#base/hosts.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { KeptConnections } from '#http-client/kept-connections.ts'
import type { ServerPlace } from '#http-client/open-socket.ts'
import type { ProviderConfig, Timeouts } from '#inference/providers/provider.ts'
import { endableCall } from './call-end.ts'
import { ERROR_BYTES_MAX, refusalFault, retryAfterOf } from './upstream-error.ts'
import {
  missed,
  readText,
  send,
  type UpstreamReply,
  type UpstreamRequest,
} from './upstream-http.ts'

export type UpstreamDeps = {
  readonly clock: Clock
  readonly log: Logger
  /** Waits between tries; replaced by tests. */
  readonly sleep?: typeof sleep
}

export type Upstream = {
  /**
   * POSTs JSON text and resolves with the head of a 200 of the wanted type, or with a refusal. Asks again, twice at
   * most (once after a reset), when nothing answered, or 429, 502 or 503 with a short Retry-After.
   */
  ask(question: ServerRequest, signal: AbortSignal): Promise<UpstreamReply | ServerRefusal>
  close(): void
}
/** The error for the caller, and the body of the answer, if any: a cell reports its use there. */
export type ServerRefusal = { readonly refusal: unknown; readonly text: string }

export type ServerRequest = {
  readonly path: string
  /** The content types that can be read, the best first. */
  readonly accept: readonly string[]
  readonly body: string
  /** Called when the request is sent to the server. */
  readonly sent?: () => void
}

export const UPSTREAM_CONNECTIONS_MAX = 128
export const TIMEOUTS: Timeouts = { connectMs: 2_000, headersMs: 120_000, idleMs: 60_000 }
/** Servers close an unused connection after 5 s and more; they hardly ever say so. */
const UNUSED_MS = 4_000
/** So much later than its limit a wait may end. */
const LOOKS_IN_LIMIT = 4
const UNCOUNTED = { piece() {} }
const TRIES_MAX = 3
const BACKOFF_MS = 100
/** Longer than this is for the caller to wait, or for the next offer. */
const RETRY_WAIT_MS_MAX = 2_000
/** About the start time of a small model. */
const RESTART_S = 2
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
const RETRIED = new Set([429, 502, 503])

export function createUpstream(config: ProviderConfig, deps: UpstreamDeps): Upstream {
  const { prefix, host, place } = addressOf(config)
  const connections = openConnections(config, place)
  const headers = ['host', host, 'content-type', 'application/json', 'user-agent', 'Ergon/1']
  if (config.apiKey) headers.push('authorization', `Bearer ${config.apiKey.reveal()}`)
  const wait = deps.sleep ?? sleep

  const refused = async (reply: UpstreamReply): Promise<Failed> => {
    const { status } = reply
    const retryAfterS = retryAfterOf(reply.header('retry-after'), deps.clock.wallMs())
    const text = await readText(reply, ERROR_BYTES_MAX)
    if (status === 401 || status === 403)
      deps.log.error('An upstream refuses our key', { provider: config.name, status })
    const after = retryAfterS === undefined ? {} : { retryAfterS }
    return {
      refusal: refusalFault(config.name, { status, text, ...after }),
      text,
      triesMax: RETRIED.has(status) ? TRIES_MAX : 1,
      waitMs: (retryAfterS ?? 0) * 1000,
    }
  }

  const judged = (reply: UpstreamReply): UpstreamReply | Promise<Failed> =>
    reply.status === 200 ? reply : refused(reply)

  const unanswered = (error: unknown): Failed => {
    const how = missed(error)
    if (how === undefined) throw error
    const isEnded = how === 'unreached' && config.at.kind === 'cell'
    const refusal = isEnded ? restarting(config.name, error) : error
    // A request that kills its server must not kill it three times.
    return { refusal, text: '', triesMax: how === 'reset' ? 2 : TRIES_MAX, waitMs: 0 }
  }

  const askOnce = (
    request: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<UpstreamReply | Failed> =>
    send(connections, request, signal).then<UpstreamReply | Failed, Failed>(judged, unanswered)

  return {
    async ask({ path, accept, body, sent }, signal) {
      const end = config.at.kind === 'cell' ? endableCall(connections) : undefined
      const request: UpstreamRequest = {
        method: 'POST',
        path: prefix + path,
        headers: [...headers, ...(end?.header ?? []), 'accept', accept.join(', ')],
        body,
        ...(sent && { sent }),
        ...(end && { leave: end.leave }),
      }
      for (let tries = 1; ; tries++) {
        const answer = await askOnce(request, signal)
        if (!('refusal' in answer)) return expectType(answer, accept)
        const waitMs = Math.max(answer.waitMs, BACKOFF_MS * 2 ** (tries - 1))
        if (tries >= answer.triesMax || waitMs > RETRY_WAIT_MS_MAX) return answer
        await wait(waitMs, signal)
      }
    },
    close: () => connections.destroy(),
  }
}

function openConnections(config: ProviderConfig, place: ServerPlace): KeptConnections {
  const { connectMs, headersMs, idleMs } = { ...TIMEOUTS, ...config.timeouts }
  return new KeptConnections(place, UNCOUNTED, {
    idleMs: UNUSED_MS,
    limits: { connection: connectMs, head: headersMs, body: idleMs },
    // Each call may have another one that ends it.
    connectionsMax: 2 * (config.connectionsMax ?? UPSTREAM_CONNECTIONS_MAX),
    lookMs: Math.min(connectMs, headersMs, idleMs) / LOOKS_IN_LIMIT,
  })
}

/** A cell of ours has no socket, or nobody behind it: it has ended, and the agent starts it again. */
const restarting = (name: string, cause: unknown) =>
  fault('model_loading', `Could not ask ${name} yet: it is being started again`, {
    cause,
    retryAfterS: RESTART_S,
  })

/** A failed try: the limit of tries for its cause, and the wait before the next one. */
type Failed = ServerRefusal & { readonly triesMax: number; readonly waitMs: number }

function addressOf({ name, at }: ProviderConfig): {
  readonly prefix: string
  /** For the header. */
  readonly host: string
  readonly place: ServerPlace
} {
  if (at.kind === 'cell')
    return { prefix: '/v1', host: 'localhost', place: { path: at.socketPath } }
  const url = new URL(at.baseUrl)
  const { host, protocol } = url
  const port = PORTS[protocol]
  if (port === undefined) throw new TypeError(`Could not use the address of ${name}: ${protocol}`)
  const tcp = { host: hostOfUrl(url), port: url.port === '' ? port : Number(url.port) }
  const place = protocol === 'https:' ? { ...tcp, tls: {} } : tcp
  return { prefix: url.pathname.replace(/\/+$/, ''), host, place }
}

function expectType(reply: UpstreamReply, types: readonly string[]): UpstreamReply {
  const given = reply.header('content-type') ?? ''
  if (types.some((type) => given.startsWith(type))) return reply
  void reply.body.dispose()
  throw fault(
    'upstream_failed',
    `Could not read the upstream: content-type "${given.slice(0, 80)}"`,
  )
}
