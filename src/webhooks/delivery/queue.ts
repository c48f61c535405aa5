// Due deliveries in the state, and the outcomes of attempts.
import type { Secret } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import { openSecret } from './secrets.ts'
import type { Outcome } from './send.ts'

export type Delivery = {
  readonly id: string
  readonly event: string
  readonly type: string
  readonly body: Buffer
  /** Made so far. */
  readonly attempts: number
}

export type DueEndpoint = {
  readonly id: string
  readonly account: string
  readonly url: string
  /** The newest first; none where that one cannot be read. */
  readonly secrets: readonly string[]
  readonly deliveries: readonly Delivery[]
}

export type Attempted = {
  readonly id: string
  readonly endpoint: string
  /** Made before this one. */
  readonly attempts: number
  readonly outcome: Outcome
  /** Until the next attempt; null after the last one. */
  readonly delayMs: number | null
  /** The endpoint failed before. */
  readonly isRecovered: boolean
}

export type WantedDeliveries = {
  /** Undefined for all. */
  readonly endpoints: readonly string[] | undefined
  /** The most deliveries of one endpoint. */
  readonly each: number
  /** The most deliveries of all endpoints: accounts share them. */
  readonly most: number
  /** Deliveries that are here already. */
  readonly known: readonly string[]
}

export interface Queue {
  due(wanted: WantedDeliveries): Promise<DueEndpoint[]>
  settle(attempts: readonly Attempted[]): Promise<void>
  /** Milliseconds until a delivery is due; undefined without one. */
  nextMs(): Promise<number | undefined>
}

type Row = {
  endpoint: string
  account: string
  url: string
  secret: string
  old_secrets: string[]
  id: string
  event: string
  event_type: string
  attempts: number
  body: string
}

/** `key` opens the secrets of endpoints. */
export const createQueue = ({ state, key }: { state: Queryable; key: Secret }): Queue => ({
  async due({ endpoints, each, most, known }) {
    const { rows } = await state.query<Row>(
      `select endpoint, account, url, secret, old_secrets, id::text, event, event_type, attempts, body
       from due_webhook_deliveries($1, $2, $3, $4)`,
      [endpoints ?? null, each, most, known],
    )
    return [...Map.groupBy(rows, ({ endpoint }) => endpoint)].map(([id, some]) =>
      toEndpoint(id, some, key),
    )
  },
  async settle(attempts) {
    await state.query('select webhook_settle($1)', [JSON.stringify(attempts.map(toResult))])
  },
  async nextMs() {
    const { rows } = await state.query<{ ms: number | null }>(
      'select next_webhook_delivery_ms() as ms',
    )
    return rows[0]?.ms ?? undefined
  },
})

function toEndpoint(id: string, rows: readonly Row[], key: Secret): DueEndpoint {
  const [first] = rows
  const { account = '', url = '', secret = '', old_secrets: old = [] } = first ?? {}
  const open = (sealed: string) => opened(sealed, key, id)
  const fresh = open(secret)
  return {
    id,
    account,
    url,
    secrets: fresh.length === 0 ? [] : [...fresh, ...old.flatMap(open)],
    deliveries: rows.map((row) => ({
      id: row.id,
      event: row.event,
      type: row.event_type,
      body: Buffer.from(row.body),
      attempts: row.attempts,
    })),
  }
}

/** Empty for a secret that is damaged or of another data folder: other endpoints, and its successor, must not wait. */
function opened(sealed: string, key: Secret, id: string): readonly string[] {
  try {
    return [openSecret(sealed, key, id)]
  } catch {
    return []
  }
}

const toResult = ({ id, endpoint, attempts, outcome, delayMs }: Attempted) => ({
  id,
  endpoint,
  attempts,
  ok: outcome.isDelivered,
  status: outcome.status,
  error: outcome.error,
  took_ms: outcome.tookMs,
  answer: outcome.answer,
  delay_ms: outcome.isDelivered ? null : delayMs,
  rest_ms: outcome.restMs,
})
