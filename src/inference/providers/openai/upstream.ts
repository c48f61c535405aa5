// The connections to one server and the rules of its requests: timeouts, retries, and the meaning of its refusals. The
// address is the operator's; nothing of it comes from a caller.
import type { Pool as UpstreamPool } from 'undici'
import { sleep, type Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { chain } from '#base/steps.ts'
import { fault } from '#contract/errors.ts'
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
  close(): Promise<void>
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
const TRIES_MAX = 3
const BACKOFF_MS = 100
/** Longer than this is for the caller to wait, or for the next offer. */
const RETRY_WAIT_MS_MAX = 2_000
/** About the start time of a small model. */
const RESTART_S = 2
const RETRIED = new Set([429, 502, 503])

export function createUpstream(config: ProviderConfig, deps: UpstreamDeps): Upstream {
  const timeouts = { ...TIMEOUTS, ...config.timeouts }
  const { prefix } = addressOf(config)
  let pool: UpstreamPool | undefined
  const opened = openConnections(config, timeouts.connectMs).then((made) => (pool = made))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Ergon/1',
    ...(config.apiKey && { authorization: `Bearer ${config.apiKey.reveal()}` }),
  }
  const wait = deps.sleep ?? sleep

  const refused = async (reply: UpstreamReply): Promise<Failed> => {
    const { status } = reply
    const retryAfterS = retryAfterOf(reply.headers['retry-after'], deps.clock.wallMs())
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
  ): UpstreamReply | Failed | Promise<UpstreamReply | Failed> =>
    chain(pool ?? opened, (to: UpstreamPool) =>
      send(to, request, signal).then<UpstreamReply | Failed, Failed>(judged, unanswered),
    )

  return {
    async ask({ path, accept, body, sent }, signal) {
      const { header = {}, ...end } = config.at.kind === 'cell' ? endableCall(opened) : {}
      const asHeader = { ...headers, ...header, accept: accept.join(', ') }
      const hooks = { ...(sent && { sent }), ...end }
      const request = { path: prefix + path, headers: asHeader, body, ...timeouts, ...hooks }
      for (let tries = 1; ; tries++) {
        const answer = await askOnce(request, signal)
        if (!('refusal' in answer)) return expectType(answer, accept)
        const waitMs = Math.max(answer.waitMs, BACKOFF_MS * 2 ** (tries - 1))
        if (tries >= answer.triesMax || waitMs > RETRY_WAIT_MS_MAX) return answer
        await wait(waitMs, signal)
      }
    },
    close: async () => (await opened).destroy(),
  }
}

async function openConnections(config: ProviderConfig, connectMs: number): Promise<UpstreamPool> {
  const { origin, connect } = addressOf(config)
  // Loading it takes 180 ms of CPU: not in a gateway that has no model.
  const { Pool } = await import('undici')
  return new Pool(origin, {
    // One more than there are calls: to end one of them.
    connections: (config.connectionsMax ?? UPSTREAM_CONNECTIONS_MAX) + 1,
    pipelining: 1,
    allowH2: false,
    connect: { ...connect, timeout: connectMs },
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

function addressOf({ name, at }: ProviderConfig) {
  if (at.kind === 'cell')
    return { origin: 'http://localhost', prefix: '/v1', connect: { socketPath: at.socketPath } }
  const url = new URL(at.baseUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`Could not use the address of ${name}: ${url.protocol}`)
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ''), connect: {} }
}

function expectType(reply: UpstreamReply, types: readonly string[]): UpstreamReply {
  const given = String(reply.headers['content-type'] ?? '')
  if (types.some((type) => given.startsWith(type))) return reply
  void reply.body.dispose()
  throw fault(
    'upstream_failed',
    `Could not read the upstream: content-type "${given.slice(0, 80)}"`,
  )
}
