// A request at the ingress: its resource is found and woken, and answers within its time.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { sleep } from '#base/clock.ts'
import { newId } from '#base/ids.ts'
import type { Logger } from '#base/log.ts'
import { isServiceFault, fault } from '#contract/errors.ts'
import { checkForm } from '#http/limits.ts'
import { renderProblem, toErgonError } from '#http/problem.ts'
import { forward, NotAnswered } from './forward.ts'
import { kindRules } from './kinds.ts'
import type { FoundRoute, IngressRoute, Routes } from './routes.ts'
import { timeLimit } from './time-limit.ts'
import type { RequestTurns } from './turns.ts'
import type { InstanceUse, InstanceUses } from './uses.ts'

export type IngressDeps = {
  readonly routes: Routes
  readonly uses: Pick<InstanceUses, 'begin'>
  readonly turns: RequestTurns
  readonly log: Logger
  /** The time of its start: 60 s. */
  readonly wakeMs?: number
}

/** A resource that does not start in this time. */
const WAKE_MAX_MS = 60_000

/** A process that has ended comes back, or another one follows. */
const AGAIN_MS = 50
const AGAIN_MAX_MS = 10_000
const ONCE_MORE = new Set(['GET', 'HEAD'])

/** Never rejects. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  deps: IngressDeps,
): Promise<void> {
  const requestId = newId('req')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    await answer(request, response, { ...deps, requestId, gone: gone.signal })
  } catch (thrown) {
    refuse(response, thrown, { requestId, log: deps.log })
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  deps: IngressDeps & { readonly requestId: string; readonly gone: AbortSignal },
): Promise<void> {
  checkForm(request)
  const { routes, uses, turns } = deps
  const { url = '/', headers } = request
  const host = headers.host ?? ''
  const found = routes.find(host, url)
  if (found === undefined)
    throw fault('route_not_found', `Could not find a route: ${host}${url.slice(0, 200)}`)
  const { route } = found
  const endTurn = await turns.take(route, deps.gone)
  // Its turn and its answer have times of their own.
  using start = timeLimit({ ms: deps.wakeMs ?? WAKE_MAX_MS, signal: deps.gone }, () =>
    unstartedFault(route),
  )
  const { signal: waking } = start
  try {
    const lastMs = performance.now() + AGAIN_MAX_MS
    for (let resets = 0; ;) {
      const use = await within(uses.begin(route), waking)
      try {
        return await forwardInTime(request, response, { ...deps, found, use })
      } catch (error) {
        if (!(error instanceof NotAnswered)) throw error
        if (error.isReset) resets++
        const mayRepeat = resets === 0 || (resets === 1 && ONCE_MORE.has(request.method ?? ''))
        if (!mayRepeat || performance.now() > lastMs) throw crashedFault(route)
      } finally {
        use.end()
      }
      await sleep(AGAIN_MS, waking)
    }
  } finally {
    endTurn()
  }
}

async function forwardInTime(
  request: IncomingMessage,
  response: ServerResponse,
  {
    routes,
    requestId,
    gone,
    found,
    use,
  }: Pick<IngressDeps, 'routes'> & {
    readonly requestId: string
    readonly gone: AbortSignal
    readonly found: FoundRoute
    readonly use: InstanceUse
  },
): Promise<void> {
  const { timeoutS } = found.route
  using limit = timeLimit({ ms: timeoutS * 1000, signal: gone }, () => {
    use.late()
    return lateFault(found.route)
  })
  await forward(request, response, {
    ...found,
    kind: found.route.kind,
    requestId,
    address: use.address,
    tariff: routes.tariff,
    signal: AbortSignal.any([limit.signal, use.refused]),
  })
}

const unstartedFault = ({ kind }: IngressRoute) =>
  fault(kindRules(kind).refusals.starting, `Could not start the ${kind} in time`, {
    retryAfterS: 2,
  })

const lateFault = ({ kind, timeoutS }: IngressRoute) =>
  fault(
    kindRules(kind).refusals.timeout,
    `Could not answer: the ${kind} has not ended after ${timeoutS} s`,
  )

const crashedFault = ({ kind }: IngressRoute) =>
  fault(kindRules(kind).refusals.crashed, `Could not answer: the process of the ${kind} has ended`)

/** A use that begins after the signal has aborted is ended. */
function within<T extends { end(): void }>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(signal.reason)
      work.then(
        (made) => made.end(),
        () => undefined,
      )
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function refuse(
  response: ServerResponse,
  thrown: unknown,
  { requestId, log }: { readonly requestId: string; readonly log: Logger },
): void {
  if (response.destroyed) return
  const error = toErgonError(thrown)
  if (error.code === 'internal') log.error('A request failed', { requestId, thrown })
  else if (isServiceFault(error))
    log.debug('A request was refused', { requestId, code: error.code })
  if (response.headersSent) return void response.destroy()
  const { body, contentType, headers } = renderProblem(error, { requestId })
  response.writeHead(error.status, {
    ...headers,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    // The rest of the body is not read.
    connection: 'close',
  })
  response.end(body)
}
