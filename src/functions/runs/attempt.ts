// One attempt of a run: a POST to the running function, as a caller would send one. Only the status of the answer counts.
import type { IncomingMessage } from 'node:http'
import { ErgonError, messageOf } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { limitInterim } from '#base/limit-interim.ts'
import { request } from '#base/node-http.ts'
import { fault } from '#contract/errors.ts'
import type { SleepCause } from '#contract/resources/intervals.ts'
import type { RUN_FOR_OBJECT } from '#contract/storage/object-created.ts'
import type { RunningFunction } from '#functions/driver.ts'
import type { Functions } from '#functions/functions.ts'
import { abortUnlessWaiting } from '#ingress/time-limit.ts'
import { untilIdle } from '#node/until-idle.ts'
import { NotWanted } from '#resources/instances.ts'

export type DueRun = {
  readonly id: string
  readonly function: string
  readonly account: string
  readonly name: string
  readonly event: typeof RUN_FOR_OBJECT | 'schedule'
  readonly data: Readonly<Record<string, string>>
  readonly attempts: number
  readonly route: string
  readonly timeout_s: number
  readonly deployed_by: string | null
}

export type RunOutcome = {
  /** `waits`: the function could not be asked, or was ended for a reason of its account: no fault of its code. */
  readonly outcome: 'done' | 'failed' | 'waits'
  readonly request?: string
  readonly error?: string
}

export type AttemptDeps = {
  readonly functions: Pick<Functions, 'use'>
  /** The address of the function, as its callers know it. */
  readonly urlOf: (run: DueRun) => string
  /** The body of the request. */
  readonly payloadOf: (run: DueRun) => Promise<object>
}

const ANSWER_BYTES_MAX = 65_536
const FAILED_FROM = 400

/** Rejects with the signal's reason alone. */
export async function attempt(
  run: DueRun,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const resource = { id: run.function, account: run.account, name: run.name }
  const requestId = newId('req')
  try {
    const { instance, endedBy, release } = await deps.functions.use(resource, signal)
    try {
      const made = await ask(instance, { ...deps, run, requestId }, signal)
      const cause = made.outcome === 'failed' ? CUT_OFF.get(endedBy()) : undefined
      return { request: requestId, ...(cause === undefined ? made : waits(cause)) }
    } finally {
      void untilIdle(socketOf(instance)).finally(release)
    }
  } catch (error) {
    signal.throwIfAborted()
    return outcomeOf(error)
  }
}

async function ask(
  instance: RunningFunction,
  { run, requestId, urlOf, payloadOf }: AttemptDeps & { run: DueRun; requestId: string },
  signal: AbortSignal,
): Promise<RunOutcome> {
  const limit = new AbortController()
  const late = () => fault('function_timeout', `It has not ended after ${run.timeout_s} s`)
  using time = abortUnlessWaiting(limit, run.timeout_s * 1000, { late })
  const body = Buffer.from(JSON.stringify(await payloadOf(run)))
  try {
    const sent = request({
      socketPath: socketOf(instance),
      path: run.route,
      method: 'POST',
      agent: false,
      signal: AbortSignal.any([signal, limit.signal]),
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        'x-ergon-event': run.event,
        'x-ergon-request-id': requestId,
        'x-ergon-url': urlOf(run),
        'x-ergon-tariff': '0',
      },
    })
    // That it waits for its turn among the requests of callers, and that it begins.
    sent.on('information', time.waits)
    limitInterim(sent)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject)
      sent.end(body)
    })
    await readAway(answer)
    const { statusCode = 0, headers } = answer
    if (headers['x-ergon-failed'] !== undefined) return failed('its code failed')
    return statusCode < FAILED_FROM ? { outcome: 'done' } : failed(`it answered ${statusCode}`)
  } catch (error) {
    signal.throwIfAborted()
    if (!limit.signal.aborted) return failed(`its process has ended: ${messageOf(error)}`)
    void instance.unblock()
    return failed(`it has not ended after ${run.timeout_s} s`)
  }
}

const socketOf = ({ address }: RunningFunction): string => address.replace(/^unix:/, '')

const failed = (error: string): RunOutcome => ({ outcome: 'failed', error })
const waits = (error: string): RunOutcome => ({ outcome: 'waits', error })

/** To its end, which is that of the work; a long answer is cut. */
async function readAway(answer: IncomingMessage): Promise<void> {
  let bytes = 0
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length
    if (bytes > ANSWER_BYTES_MAX) return void answer.destroy()
  }
}

/** Why the function does not run: code that cannot be loaded is the only fault of the function. */
function outcomeOf(error: unknown): RunOutcome {
  if (error instanceof NotWanted) return waits(NOT_NOW)
  const code = error instanceof ErgonError ? error.code : 'internal'
  if (code === 'function_failed') return failed('its code cannot be loaded')
  return waits(UNPAID.has(code) ? UNPAID_WORDS : 'it could not be started')
}

const UNPAID = new Set(['balance_depleted', 'free_tier_exceeded', 'budget_exhausted'])
const UNPAID_WORDS = 'its energy cannot be paid, or its budget is used up'
const NOT_NOW = 'it may not run now'

/** Ends of an instance that cut its runs off through no fault of its code. */
const CUT_OFF: ReadonlyMap<SleepCause | undefined, string> = new Map([
  ['budget', UNPAID_WORDS],
  ['balance', UNPAID_WORDS],
  ['suspended', NOT_NOW],
  ['change', NOT_NOW],
  ['stop', NOT_NOW],
])
