// The state's view of databases whose servers run: who cannot pay any more, and the size of each.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { Servers } from './servers.ts'

export interface DatabaseWatch {
  /** Bytes that a database may have: as the state said last; no limit before that. */
  sizeOf(id: string): number
  /** Asks for one database now. */
  ask(id: string): Promise<void>
  /** Asks for all running servers again and again; ends those of accounts that cannot pay. */
  run(servers: Servers, signal: AbortSignal): Promise<void>
}

type Row = { readonly id: string; readonly size_bytes: string; readonly can_pay: boolean }

const REST_MS = 5000
const ROWS = `select d.id, d.size_bytes::text, account_can_pay(n.account) as can_pay
  from databases d join resources n using (id) where d.id = any ($1)`

export function createWatch(deps: {
  readonly state: Queryable
  readonly log: Logger
  /** Ends the sessions of a database that nobody pays for. */
  readonly cut: (id: string) => Promise<void>
}): DatabaseWatch {
  const { state, log, cut } = deps
  const sizes = new Map<string, number>()
  const rowsOf = async (ids: readonly string[]): Promise<readonly Row[]> => {
    const { rows } = await state.query<Row>(ROWS, [ids])
    for (const { id, size_bytes: bytes } of rows) sizes.set(id, Number(bytes))
    return rows
  }
  return {
    sizeOf: (id) => sizes.get(id) ?? Infinity,
    ask: async (id) => void (await rowsOf([id])),
    async run(servers, signal) {
      while (!signal.aborted) {
        await sleep(REST_MS, signal).catch(() => undefined)
        const ids = servers.running().map(({ id }) => id)
        for (const id of sizes.keys()) if (!ids.includes(id)) sizes.delete(id)
        if (ids.length === 0 || signal.aborted) continue
        try {
          for (const { id } of (await rowsOf(ids)).filter((row) => !row.can_pay)) {
            await cut(id)
            await servers.stop(id)
          }
        } catch (error) {
          log.warn('The accounts of databases could not be read', { error: messageOf(error) })
        }
      }
    },
  }
}
