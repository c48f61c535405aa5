// GET /v1/databases/{id or name}/energy?from&to&by: the charges of its server, its sessions at the proxy, its
// backups and its stored bytes, summed. Also of a deleted database, whose last backups are still charged.
import { DATABASE_ENERGY_DAYS_MAX } from '#contract/databases/databases-max.ts'
import { ENERGY_STEPS } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { idOfDatabase } from '#databases/backups/find-backup.ts'
import { readTime } from '#http/read-time.ts'
import { LIMITED } from '#databases/limited-operations.ts'
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import {
  energyFigures,
  shownEnergy,
  sumResource,
  type ResourceEnergyRow,
} from '#ledger/resource-energy.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

const DAY_MS = 86_400_000
const SERVER = 'cell.standing'
const OPERATIONS = [...LIMITED, 'database.standing'] as const

export const createDatabaseEnergy =
  ({ state, now }: { readonly state: State; readonly now: () => number }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    const wanted = call.parameters['database'] ?? ''
    const resource = await idOfDatabase(state, { account, wanted })
    const { from, to, by } = readSpan(call.query(), now())
    const span = { account, resource, operations: OPERATIONS, from, to }
    const rows = await inSnapshot(state, (snapshot) => sumResource(snapshot, span, by))
    const reply = {
      object: 'database.energy',
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      ...shownEnergy(rows, figuresOf),
    }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }

const figuresOf = (rows: readonly ResourceEnergyRow[]) => ({
  ...energyFigures(rows),
  server_j: energyFigures(rows.filter(({ operation }) => operation === SERVER)).energy_j,
})

function readSpan(query: URLSearchParams, nowMs: number) {
  const to = readTime(query.get('to'), 'to') ?? new Date(nowMs)
  const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - DAY_MS)
  if (from > to)
    throw fault('invalid_request', 'Could not sum: "to" is before "from"', { param: 'to' })
  if (to.getTime() - from.getTime() > DATABASE_ENERGY_DAYS_MAX * DAY_MS)
    throw fault(
      'invalid_request',
      `Could not sum: the range must be at most ${DATABASE_ENERGY_DAYS_MAX} days`,
      { param: 'from' },
    )
  const text = query.get('by') ?? 'hour'
  const by = ENERGY_STEPS.find((step) => step === text)
  if (by === undefined)
    throw fault(
      'invalid_request',
      `Could not sum by "${text.slice(0, 20)}": it is not one of ${ENERGY_STEPS.join(', ')}`,
      { param: 'by' },
    )
  return { from, to, by }
}
