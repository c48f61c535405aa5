// The state's view of databases whose servers run: the size of each, and how much of its energy budget is used.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { add, nj } from '#base/units.ts'
import type { AccountCells } from '#node/account-cells.ts'
import type { Queryable } from '#state/connect.ts'
import { nearlyUsed } from '#databases/agent-socket/energy-words.ts'
import { cellNameOf } from './cell-name.ts'
import type { Servers } from './servers.ts'
import type { Warnings } from '#databases/agent-socket/warnings.ts'

export interface DatabaseWatch {
  /** Bytes that a database may have: as the state said last; no limit before that. */
  sizeOf(id: string): number
  /** Asks for one database now. */
  ask(id: string): Promise<void>
  /** Asks for all running servers again and again. */
  run(servers: Pick<Servers, 'running'>, signal: AbortSignal): Promise<void>
}

type Row = {
  readonly id: string
  readonly name: string
  readonly size_bytes: string
  readonly nj_per_day: string | null
  readonly used_nj: string
}

const REST_MS = 5000
const ROWS = `select d.id, n.name, d.size_bytes::text, b.nj_per_day::text, budget_used_nj(d.id)::text as used_nj
  from databases d join resources n using (id) left join budgets b using (id) where d.id = any ($1)`

export function createWatch(deps: {
  readonly state: Queryable
  readonly log: Logger
  readonly accountCells: Pick<AccountCells, 'measuredNj' | 'settle'>
  readonly warnings: Warnings
}): DatabaseWatch {
  const { state, log, warnings, accountCells } = deps
  const sizes = new Map<string, number>()
  const ask = async (ids: readonly string[]): Promise<void> => {
    const { rows } = await state.query<Row>(ROWS, [ids])
    for (const row of rows) {
      sizes.set(row.id, Number(row.size_bytes))
      const cell = cellNameOf(row.id)
      const measuredNj = accountCells.measuredNj(cell)
      const isNear =
        row.nj_per_day !== null && isNearlyUsed(row.nj_per_day, row.used_nj, measuredNj)
      warnings.set(row.id, 'budget', isNear ? nearlyUsed(row.name) : undefined)
      // The charge emits the event of it.
      if (isNear && measuredNj > 0n && !isNearlyUsed(row.nj_per_day ?? '0', row.used_nj))
        accountCells.settle(cell)
    }
  }
  return {
    sizeOf: (id) => sizes.get(id) ?? Infinity,
    ask: (id) => ask([id]),
    async run(servers, signal) {
      while (!signal.aborted) {
        await sleep(REST_MS, signal).catch(() => undefined)
        const ids = servers.running().map(({ id }) => id)
        for (const id of sizes.keys())
          if (!ids.includes(id)) {
            sizes.delete(id)
            warnings.forget(id)
          }
        if (ids.length === 0 || signal.aborted) continue
        await ask(ids).catch((error: unknown) =>
          log.warn('The limits of databases could not be read', { error: messageOf(error) }),
        )
      }
    },
  }
}

const isNearlyUsed = (perDay: string, used: string, measuredNj = nj(0n)): boolean =>
  add(nj(BigInt(used)), measuredNj) * 5n >= BigInt(perDay) * 4n
