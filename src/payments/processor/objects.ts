// The objects of the test processor within one transaction of a request, and the events that it will tell.
import { randomBytes } from 'node:crypto'
import type { Queryable } from '#state/connect.ts'

export type ProcessorObject = { readonly id: string; readonly object: string } & {
  [name: string]: unknown
}

export type ProcessorAnswer = {
  readonly status: number
  /** An object of the API, or the HTML of a page. */
  readonly body: object | string
  /** Where the browser goes on. */
  readonly location?: string
}
export const answered = (body: object): ProcessorAnswer => ({ status: 200, body })

/** A call that changes nothing. */
export class ProcessorRefusal extends TypeError {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface ProcessorObjects {
  /** In seconds, by the processor's own clock. */
  readonly now: number
  /** Of the processor, for a payer; empty where no payer is. */
  readonly url: string
  newId(prefix: string): string
  /** Throws ProcessorRefusal. */
  get(id: string | undefined, prefix: string): Promise<ProcessorObject>
  put(object: ProcessorObject): Promise<void>
  emit(type: string, object: ProcessorObject): Promise<void>
}

export async function openObjects(state: Queryable, url = ''): Promise<ProcessorObjects> {
  const { rows } = await state.query<{ now: string }>(
    'select (extract(epoch from now())::bigint + ahead_s)::text as now from test_processor_clock',
  )
  const now = Number(rows[0]?.now)
  const newId = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`
  return {
    now,
    url,
    newId,
    async get(id, prefix) {
      const found = await state.query<{ body: ProcessorObject }>(
        'select body from test_processor_objects where id = $1 for update',
        [id ?? ''],
      )
      const body = found.rows[0]?.body
      if (body === undefined || !body.id.startsWith(`${prefix}_`))
        throw new ProcessorRefusal(404, 'resource_missing', `No such ${prefix}: '${id}'`)
      return body
    },
    async put(object) {
      await state.query(
        `insert into test_processor_objects (id, kind, body) values ($1, $2, $3)
         on conflict (id) do update set body = excluded.body`,
        [object.id, object.object, JSON.stringify(object)],
      )
    },
    async emit(type, object) {
      const id = newId('evt')
      const event = {
        id,
        object: 'event',
        api_version: '2026-10-28.endive',
        created: now,
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
        data: { object },
      }
      await state.query(
        'insert into test_processor_events (id, created, body) values ($1, $2, $3)',
        [id, now, JSON.stringify(event)],
      )
    },
  }
}
