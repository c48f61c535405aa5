// A request at the ingress: its resource is found and woken, and answers within its time.
import type { IncomingMessage } from 'node:http'
import { sleep } from '#base/clock.ts'
import type { ErgonError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Logger } from '#base/log.ts'
import { ServerResponse } from '#base/node-http.ts'
import { unlessAborted } from '#base/unless-aborted.ts'
import { fault } from '#contract/errors.ts'
import { checkForm } from '#http/request-form.ts'
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'
import type { ChallengePages } from './acme/challenge-pages.ts'
import {
  hostOfRequest,
  type IngressRequest,
  type IngressResponse,
  type UpgradeSocket,
} from './exchange.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { forward } from './forward.ts'
import { forwardGrpc } from './grpc/forward-grpc.ts'
import { isGrpc } from './grpc/is-grpc.ts'
import { hasBody } from './instance-request.ts'
import { redirected, strictHeaders, type Https } from './https-only.ts'
import { rulesOfKind } from './kinds.ts'
import { NotAnswered } from '#http-client/not-answered.ts'
import { refuseRequest } from './refuse.ts'
import { RequestEnding } from './request-ending.ts'
import type { RequestEnded } from './routed-counts.ts'
import type { FoundRoute, IngressRoute, Routes } from './routes.ts'
import { unstartedFault } from './start-failure.ts'
import { abortLate, abortUnlessWaiting } from './time-limit.ts'
import type { RequestTurns } from './turns.ts'
import type { InstanceUse } from './fleet.ts'
import type { InstanceUses } from './uses.ts'

export type IngressDeps = {
  readonly routes: Routes
  readonly uses: Pick<InstanceUses, 'begin'>
  readonly turns: RequestTurns
  readonly ended: RequestEnded
  /** CPU of this process for no instance. */
  readonly nobody: CausedByCells['nobody']
  readonly log: Logger
  /** A proxy of the operator, whose headers say who asked. */
  readonly trusts: (address: string) => boolean
  /** Undefined: no certificates are ordered. */
  readonly challenges?: Pick<ChallengePages, 'answered'>
  /** Undefined: no TLS. */
  readonly https?: Https
  /** The time of its start: 60 s. */
  readonly wakeMs?: number
  /** The time in which a call of gRPC has a message: 10 minutes. */
  readonly silenceMs?: number | undefined
}

/** A resource that does not start in this time. */
const WAKE_MAX_MS = 60_000

/** A process that has ended comes back, or another one follows. */
const AGAIN_MS = 50
const AGAIN_MAX_MS = 10_000
const ONCE_MORE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Made once: the stack of one for each request would be 2 % of its CPU. */
const LEFT = new DOMException('The client has left', 'AbortError')

type PassOn = (given: ForwardedRequest) => Promise<void>

/** A request that asks for nothing else than an answer. */
export const answerRequest = (
  request: IngressRequest,
  response: IngressResponse,
  deps: IngressDeps,
): Promise<void> =>
  answerBy(request, response, {
    ...deps,
    pass: (given) =>
      isGrpc(request) ? forwardGrpc(request, response, given) : forward(request, response, given),
  })

/** A request that asks for WebSocket. */
export async function answerUpgrade(
  request: IncomingMessage,
  upgrade: UpgradeSocket,
  deps: IngressDeps,
): Promise<void> {
  const { socket } = upgrade
  socket.on('error', () => socket.destroy())
  // For a refusal, and for an instance that answers in HTTP.
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(request.socket)
  response.once('finish', () => request.socket.destroySoon())
  const pass: PassOn = (given) => forward(request, response, given, upgrade)
  await answerBy(request, response, { ...deps, pass })
}

/** The answer by a way to pass the request on to an instance. */
async function answerBy(
  request: IngressRequest,
  response: IngressResponse,
  deps: IngressDeps & { readonly pass: PassOn },
): Promise<void> {
  const requestId = newId('req')
  /** The signal of the whole request: it aborts with the reason why the request ends. */
  const ending = new RequestEnding()
  let isGone = false
  response.once('close', () => {
    isGone = true
    if (!response.writableEnded) ending.abort(LEFT)
  })
  try {
    checkForm(request)
    if (deps.challenges?.answered(request, response) === true) return deps.nobody.mark()
    if (redirected(request, response, deps.https)) return deps.nobody.mark()
    await answer(request, { ...deps, requestId, ending })
  } catch (thrown) {
    const headers = strictHeaders(request, deps.https)
    if (!isGone) refuseRequest(request, response, thrown, { requestId, headers, log: deps.log })
    deps.nobody.mark()
  }
}

type Answering = IngressDeps & {
  readonly pass: PassOn
  readonly requestId: string
  readonly ending: RequestEnding
}

async function answer(request: IngressRequest, deps: Answering): Promise<void> {
  const { routes, ended, ending } = deps
  const { url = '/' } = request
  const host = hostOfRequest(request)
  const found = routes.find(host, url)
  if (found === undefined)
    throw fault('route_not_found', `Could not find a route: ${host}${url.slice(0, 200)}`)
  try {
    await answerFound(request, { ...deps, host, found })
    ended(found.route)
  } catch (error) {
    ended(found.route, ending.reason === LEFT ? undefined : error)
    throw error
  }
}

type FoundRequest = Answering & { readonly host: string; readonly found: FoundRoute }

async function answerFound(request: IngressRequest, deps: FoundRequest): Promise<void> {
  const endTurn = await deps.turns.take(deps.found.route, deps.ending)
  try {
    await answerInTurn(request, deps)
  } finally {
    endTurn()
  }
}

/** Its start and its answer have times of their own. */
async function answerInTurn(request: IngressRequest, deps: FoundRequest): Promise<void> {
  const { uses, ending, found } = deps
  const { route } = found
  const wakeMs = deps.wakeMs ?? WAKE_MAX_MS
  const lastMs = performance.now() + AGAIN_MAX_MS
  for (let resets = 0; ;) {
    const use = await startOf(route, { uses, ending, wakeMs })
    try {
      // A body cannot be sent twice.
      if (use.loading() !== undefined && hasBody(request)) await loaded(use, ending)
      return await passInTime(request, use, deps)
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error
      if (use.loading() !== undefined) {
        // Its handler has not begun. The agent limits the load, and says why a code is not loaded.
        await loaded(use, ending)
        continue
      }
      use.down()
      if (error.isReset) resets++
      const mayRepeat = resets === 0 || (resets === 1 && isRepeatable(request))
      if (!mayRepeat || performance.now() > lastMs) throw crashedFault(route)
    } finally {
      use.end()
    }
    await sleep(AGAIN_MS, ending.signal)
  }
}

/** Rejects with why the code was not loaded. */
async function loaded(use: InstanceUse, { signal }: RequestEnding): Promise<void> {
  const loading = use.loading()
  if (loading !== undefined) await unlessAborted(loading, signal)
}

/** Its code may have begun with the request, which HTTP lets nobody notice (RFC 9110, 9.2.2). */
const isRepeatable = (request: IngressRequest): boolean =>
  ONCE_MORE.has(request.method ?? '') && !hasBody(request)

async function startOf(
  route: IngressRoute,
  {
    uses,
    ending,
    wakeMs,
  }: Pick<IngressDeps, 'uses'> & { readonly ending: RequestEnding; readonly wakeMs: number },
): Promise<InstanceUse> {
  const begun = uses.begin(route, ending)
  if (!(begun instanceof Promise)) return begun
  using _ = abortLate(ending, wakeMs, () => unstartedFault(route.kind))
  // A use that begins after the signal has aborted is ended.
  return await unlessAborted(begun, ending.signal, (use) => use.end())
}

async function passInTime(
  request: IngressRequest,
  use: InstanceUse,
  { routes, requestId, ending, host, found, pass, trusts, https, silenceMs }: FoundRequest,
): Promise<void> {
  const { route, path, url, prefix } = found
  const late = () => {
    use.late()
    return lateFault(route)
  }
  const loading = use.loading()
  using limit = abortUnlessWaiting(ending, route.timeoutS * 1000, { late, loading })
  await pass({
    requestId,
    pool: use.pool,
    kind: route.kind,
    host,
    path,
    url,
    prefix,
    tariff: routes.tariff,
    ending,
    trusts,
    added: strictHeaders(request, https),
    waits: limit.waits,
    silenceMs,
    begun(isUpgrade) {
      if (isUpgrade || !rulesOfKind(route.kind).isTimedWhole) limit[Symbol.dispose]()
    },
  })
}

const lateFault = ({ kind, timeoutS }: IngressRoute) =>
  fault(
    rulesOfKind(kind).refusals.timeout,
    `Could not answer: the ${kind} has not ended after ${timeoutS} s`,
  )

const crashedFault = ({ kind }: IngressRoute): ErgonError =>
  fault(
    rulesOfKind(kind).refusals.crashed,
    `Could not answer: the process of the ${kind} has ended`,
  )
