// Webhooks of the test processor: its events in their order, signed as Stripe signs them, again until they are taken.
import { createHmac } from 'node:crypto'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { request } from '#base/node-http.ts'
import type { State } from '#state/connect.ts'

const BATCH = 20
const REST_MS = 1000
const TIMEOUT_MS = 10_000
/** The times from one attempt to the next; the last time repeats. */
const DELAYS_S = [1, 2, 5, 15, 60, 300, 3600] as const
const ATTEMPTS_MAX = 80

type DueEvent = { id: string; body: object; attempts: number }

type TestDeliveryDeps = {
  readonly state: State
  readonly url: string
  readonly secret: string
  readonly log: Logger
}

/** Delivers until the signal aborts; `poke` shortens the rest. */
export function createDelivery(deps: TestDeliveryDeps): {
  poke(): void
  run(signal: AbortSignal): Promise<void>
} {
  let wake = (): void => undefined
  return {
    poke: () => wake(),
    async run(signal) {
      while (!signal.aborted) {
        const delivered = await deliverDue(deps, signal).catch((error: unknown) => {
          deps.log.warn('Test webhooks could not be delivered', { error: messageOf(error) })
          return 0
        })
        if (delivered > 0) continue
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, REST_MS)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
          signal.addEventListener('abort', wake, { once: true })
        })
      }
    },
  }
}

/** The number of events that were taken. */
async function deliverDue(deps: TestDeliveryDeps, signal: AbortSignal): Promise<number> {
  const { rows } = await deps.state.query<DueEvent>(
    `select id, body, attempts from test_processor_events
     where delivered_at is null and next_at <= now() and attempts < ${ATTEMPTS_MAX} order by seq limit ${BATCH}`,
  )
  let taken = 0
  for (const event of rows) {
    if (signal.aborted) break
    const status = await post(deps, JSON.stringify(event.body)).catch(() => 0)
    const isTaken = status >= 200 && status < 300
    if (isTaken) taken++
    const delayS = DELAYS_S[Math.min(event.attempts, DELAYS_S.length - 1)]
    await deps.state.query(
      `update test_processor_events set attempts = attempts + 1, next_at = now() + make_interval(secs => $2),
         delivered_at = case when $3 then now() end where id = $1`,
      [event.id, delayS, isTaken],
    )
  }
  return taken
}

/** The header Stripe-Signature of a body: HMAC-SHA256 over the time, a point and the body. */
export function signatureOf(body: string, secret: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${digest}`
}

function post({ url, secret }: TestDeliveryDeps, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signatureOf(body, secret, Math.floor(Date.now() / 1000)),
    }
    const sent = request(url, { method: 'POST', headers, timeout: TIMEOUT_MS }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new TypeError('no answer')))
    sent.on('error', reject)
    sent.end(body)
  })
}
