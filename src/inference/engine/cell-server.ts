// The HTTP face of a model cell on its unix socket. One caller, our gateway, is expected; everything is
// bounded all the same. Errors before the first frame have a status, later ones are a frame.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { readWhole, sendJson, serveUnix } from '#base/unix-server.ts'
import { fault, openaiError } from '#contract/errors.ts'
import { GPU_PAGE } from '#node/meter/gpu-time.ts'
import { CALL_HEADER, CALLS_PATH, STUCK_PAGE } from '#inference/cell-calls.ts'
import type { CellEngine, CellHandler, CellWork } from './cell-engine.ts'
import { isFields, refuse, type BodyFields } from './fields.ts'
import { EVENT_STREAM } from './sse.ts'
import type { CpuAccount } from './step-clock.ts'
import { Stuck } from './step-watch.ts'
import { usageField, type CellUsage } from './usage.ts'

const BODY_BYTES_MAX = 8 << 20
const CONNECTIONS_MAX = 512
/** Silence of a reader after which its sequence is freed for others. */
const DRAIN_TIMEOUT_MS = 60_000
const RECEIVE_TIMEOUT_MS = 30_000
/** The time that readers have for their last frame when the cell stops. */
const CLOSE_TIMEOUT_MS = 2_000
/** About the start time of a small model. */
const RESTART_S = 2

export type CellServer = {
  /** From here on requests are served; until then they get 503 `model_loading`. */
  ready(engine: CellEngine): void
  /** Ends running answers with `draining` and closes. */
  close(): Promise<void>
}

/** Shared by the requests of one server. */
type ServedModel = {
  readonly modelId: string
  readonly startedS: number
  readonly log: Logger
  /** Aborts every answer when the cell stops. */
  readonly stopping: AbortController
  /** The calls that run, by the name that their caller gave them: aborted when nobody waits any more. */
  readonly calls: Map<string, AbortController>
  engine: CellEngine | undefined
}

/** Listens on `socket` at once, so that its callers can tell loading from absent. */
export async function serveCell(socket: string, modelId: string, log: Logger): Promise<CellServer> {
  const startedS = Math.floor(Date.now() / 1000)
  const stopping = new AbortController()
  const cell: ServedModel = {
    modelId,
    startedS,
    log,
    stopping,
    calls: new Map(),
    engine: undefined,
  }
  const limits = { connectionsMax: CONNECTIONS_MAX, requestTimeoutMs: RECEIVE_TIMEOUT_MS }
  const { server } = await serveUnix({ socket, ...limits }, (request, response) => {
    // A connection kept alive would delay the end of a stopping cell by Node's 5 s.
    response.once('close', () => stopping.signal.aborted && request.socket.end())
    route(cell, request, response).catch((error: unknown) => fail(cell, response, error))
  })
  return {
    ready(engine) {
      cell.engine = engine
    },
    async close() {
      server.close()
      stopping.abort(fault('draining', 'The model is stopping'))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS)
      await once(server, 'close')
      clearTimeout(timer)
    },
  }
}

async function route(
  cell: ServedModel,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { engine, modelId } = cell
  const path = request.url ?? ''
  if (request.method === 'GET' && path === '/healthz') return sendHealth(response, cell)
  if (request.method === 'DELETE' && path.startsWith(CALLS_PATH))
    return endCall(cell, path.slice(CALLS_PATH.length), response)
  if (request.method === 'GET' && path === STUCK_PAGE)
    return sendJson(response, 200, { stuck: stuckWords(engine) })
  if (request.method === 'GET' && path === GPU_PAGE)
    return sendJson(response, 200, { gpu_ns: String(engine?.clock.gpuNs?.() ?? 0n) })
  if (engine === undefined)
    throw fault('model_loading', `Could not answer yet: ${modelId} is loading`, { retryAfterS: 1 })
  if (request.method === 'GET' && path === '/v1/models') {
    const entry = { id: modelId, object: 'model', created: cell.startedS, owned_by: 'local' }
    return sendJson(response, 200, { object: 'list', data: [{ ...entry, ...engine.card }] })
  }
  const handler = Object.hasOwn(engine.routes, path) ? engine.routes[path] : undefined
  if (handler === undefined)
    throw fault('not_found', `Could not find the path for ${modelId}: ${path}`)
  if (request.method !== 'POST')
    throw fault('method_not_allowed', `Could not use the method: ${request.method}`)
  const { clock } = engine
  const usage: CellUsage = { account: clock.open(), promptTokens: 0, completionTokens: 0 }
  const gone = new AbortController()
  const call = String(request.headers[CALL_HEADER] ?? '')
  if (call !== '') cell.calls.set(call, gone)
  response.once('close', () => gone.abort(fault('client_closed', 'The caller went away')))
  const signal = AbortSignal.any([gone.signal, cell.stopping.signal])
  try {
    const bytes = await readWhole(request, BODY_BYTES_MAX, () =>
      fault('body_too_large', `Could not read the body: more than ${BODY_BYTES_MAX} bytes`),
    )
    // Not before the body: the engine may get stuck while that comes.
    if (engine.watch?.stuck.aborted === true) throw restarting()
    const body = clock.own(usage.account, () => parseBody(bytes.toString('utf8')))
    const answer = stream(response, handler, body, { usage, payer: payerOf(body), signal })
    await unlessStuck(answer, engine, usage.account)
  } catch (error) {
    clock.settle()
    fail(cell, response, error, usage)
  } finally {
    cell.calls.delete(call)
    clock.close(usage.account)
  }
}

/**
 * Nobody waits for this call any more. The step that runs cannot be stopped, and its cost is known at its end:
 * the connection of the call stays open until then, for the last figures.
 */
function endCall({ calls }: ServedModel, name: string, response: ServerResponse): void {
  const gone = calls.get(name)
  gone?.abort(fault('client_closed', 'The caller went away'))
  response.writeHead(gone === undefined ? 404 : 204).end()
}

/**
 * Resolves as the answer does; rejects once the engine is stuck, as the answer never ends then. The account with the
 * schema at fault gets the error and pays; others may try again.
 */
async function unlessStuck(
  answer: Promise<void>,
  { watch }: CellEngine,
  account: CpuAccount,
): Promise<void> {
  if (watch === undefined) return answer
  const { promise, reject } = Promise.withResolvers<never>()
  const tell = () => {
    const stuck: unknown = watch.stuck.reason
    const param = stuck instanceof Stuck ? stuck.blamed.get(account) : undefined
    const isBlamed = stuck instanceof Stuck && param !== undefined
    reject(isBlamed ? refuse(param, stuck.message) : restarting())
  }
  watch.stuck.addEventListener('abort', tell, { once: true })
  try {
    await Promise.race([answer, promise])
  } finally {
    watch.stuck.removeEventListener('abort', tell)
  }
}

const restarting = () =>
  fault('model_loading', 'Could not go on: the model is started again', { retryAfterS: RESTART_S })

/** Only our gateway sets it; others share one turn. */
const payerOf = ({ ergon_payer: payer }: BodyFields): string =>
  typeof payer === 'string' ? payer : ''

/** Why the engine makes no more steps; null while it does. The process is alive all the while. */
const stuckWords = (engine: CellEngine | undefined): string | null =>
  engine?.watch?.stuck.aborted === true ? messageOf(engine.watch.stuck.reason) : null

/** Ready only when the model is loaded and warm; with the CPU of the process and how much was claimed. */
function sendHealth(response: ServerResponse, { engine, modelId }: ServedModel): void {
  if (engine === undefined) return sendJson(response, 503, { status: 'loading', model: modelId })
  if (stuckWords(engine) !== null)
    return sendJson(response, 503, { status: 'stuck', model: modelId })
  const { processNs, attributedNs } = engine.clock.totals()
  sendJson(response, 200, {
    status: 'ready',
    model: modelId,
    cpu_ns: processNs.toString(),
    attributed_cpu_ns: attributedNs.toString(),
  })
}

/** Before the head: a status and the OpenAI error. After it: a last frame of the answer's own kind. */
function fail(
  cell: ServedModel,
  response: ServerResponse,
  error: unknown,
  usage?: CellUsage,
): void {
  const known = error instanceof ErgonError ? error : fault('internal', 'The model could not go on')
  if (known !== error) cell.log.error('A request failed', { error, detail: messageOf(error) })
  if (response.destroyed) return
  const spent = usage === undefined ? {} : { ergon: usageField(usage) }
  // The gateway adds the advice, as the code may become another there.
  const body = { error: { ...openaiError(known), message: known.message }, ...spent }
  if (!response.headersSent) {
    if (known.retryAfterS !== undefined) response.setHeader('Retry-After', known.retryAfterS)
    return sendJson(response, known.status, body)
  }
  const events = response.getHeader('Content-Type') === EVENT_STREAM
  response.end(events ? `data: ${JSON.stringify(body)}\n\n` : `${JSON.stringify(body)}\n`)
}

/** Writes frames as they come and waits for the reader; the head leaves with the first frame. */
async function stream(
  response: ServerResponse,
  handler: CellHandler,
  body: BodyFields,
  work: CellWork,
): Promise<void> {
  const { contentType, frames } = await handler(body, work)
  for await (const frame of frames) {
    if (!response.headersSent) response.setHeader('Content-Type', contentType)
    if (!response.write(frame)) await drained(response, work.signal)
    work.signal.throwIfAborted()
  }
  response.end()
}

/** Waits until the reader has taken what is written; gives up on one that takes nothing. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(DRAIN_TIMEOUT_MS)
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, late]) })
  } catch (error) {
    if (late.aborted) response.destroy()
    throw signal.aborted ? signal.reason : error
  }
}

function parseBody(text: string): BodyFields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw fault('invalid_json', 'Could not read the body: it is not JSON', { cause })
  }
  if (!isFields(value)) throw fault('invalid_json', 'Could not read the body: it is no JSON object')
  return value
}
