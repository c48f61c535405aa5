// GET /v1/live: what the account uses now, a message a second, and fewer while nothing changes. The stream is a
// request like any other: it is admitted with a ceiling, pays for its readings, and ends when its token is revoked,
// its time is over or the process stops.
import type { Clock } from '#base/clock.ts'
import type { ErgonError } from '#base/errors.ts'
import { nj } from '#base/units.ts'
import { readTariff } from '#charging/tariff.ts'
import type { Session } from '#charging/session.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { fault } from '#contract/errors.ts'
import { LIVE_SECONDS_MAX } from '#contract/live/live.ts'
import type { OperationCall, Handler } from '#http/reply.ts'
import { callerOf, type Principal } from '#identity/principal.ts'
import { liveMessageOf, type SeenByClient } from './message.ts'
import type { Watcher } from './watcher.ts'

/** For each second: 3 ms of CPU at 3.5 J/s. A message takes a third of that. */
const SECOND_NJ = 10_000_000n
/** Longest wait for the message after the time of a stream. */
const LAST_MS_MAX = 500
/** A client that lost the stream asks again after this time. */
const RETRY_MS = 1000
const NUMBER = /^\d{1,18}$/

type Deps = {
  readonly watcher: Watcher
  readonly session: Pick<Session, 'latest'>
  readonly clock: Clock
}
type LiveRequest = { readonly seconds: number; readonly after: string | undefined }

export const createLiveGet =
  (deps: Deps): Handler =>
  async (call) => {
    const caller = callerOf(call)
    const asked = readAsked(call)
    await call.spend.admit(caller, 'live.get', nj(BigInt(asked.seconds) * SECOND_NJ))
    return {
      kind: 'streamed',
      status: 200,
      contentType: 'text/event-stream',
      // Proxies that gather answers would keep the messages.
      headers: { 'X-Accel-Buffering': 'no' },
      chunks: messages(deps, call, caller, asked),
      last: (charge) => event('end', costOf(charge)),
      cut: ({ code, message }: ErgonError, charge) =>
        event('error', { code, message, ...costOf(charge) }),
    }
  }

async function* messages(
  { watcher, session, clock }: Deps,
  { spend, signal }: OperationCall,
  { account }: Principal,
  { seconds, after }: LiveRequest,
): AsyncGenerator<string> {
  const untilMs = clock.monotonicMs() + seconds * 1000
  // An account at rest has no reading for seconds: the stream ends at its time all the same.
  const over = AbortSignal.timeout(seconds * 1000 + LAST_MS_MAX)
  const ending = AbortSignal.any([signal, over])
  const subscription = watcher.subscribe(account, () => spend.mark())
  let seen: SeenByClient = { isNew: true, charges: after, states: new Map() }
  let begin = `retry: ${RETRY_MS}\n`
  try {
    do {
      const now = await subscription.next(ending)
      const { method, bandPct } = readTariff(session.latest?.tariff)
      const message = liveMessageOf(now, seen, {
        nowMs: clock.wallMs(),
        known: { method, bandPct: Number(bandPct) },
        lookingNj: spend.measured(),
      })
      seen = { isNew: false, charges: now.charges, states: now.states }
      yield `${begin}id: ${now.charges}\ndata: ${JSON.stringify(message)}\n\n`
      begin = ''
    } while (clock.monotonicMs() < untilMs)
  } catch (error) {
    if (!over.aborted || signal.aborted || error !== over.reason) throw error
  } finally {
    subscription.end()
  }
}

function readAsked({ query: queryOf, headers }: OperationCall): LiveRequest {
  const query = queryOf()
  const seconds = Number(query.get('seconds') ?? LIVE_SECONDS_MAX)
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > LIVE_SECONDS_MAX)
    throw wrong('seconds', `it is not a number from 1 to ${LIVE_SECONDS_MAX}`)
  // A browser that asks again sends the header with the address of the first time.
  const after = headers['last-event-id'] ?? query.get('after') ?? undefined
  if (after !== undefined && !NUMBER.test(after))
    throw wrong('after', 'it is not the id of a message')
  return { seconds, after }
}

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not open the stream by "${param}": ${why}`, { param })

const event = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

const costOf = (charge: Charge) => ({
  receipt_id: charge.id,
  energy_nj: charge.energy_nj,
  charge_pusd: charge.charge_pusd,
})
