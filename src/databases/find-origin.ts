// The backups that a new database is made from.
import { nj } from '#base/units.ts'
import type { DatabaseRequest } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { njPerDayOf } from '#ledger/budgets.ts'
import {
  findBackedUp,
  findBackup,
  holdBackups,
  idOfDatabase,
  type BackedUp,
  type RestorableTimes,
} from './backups/find-backup.ts'
import type { Queryable } from '#state/connect.ts'

export type BackupOrigin = {
  readonly database: string
  readonly backup: string | null
  readonly until: string | null
  /** The size of the database whose backups are restored. */
  readonly sizeBytes: number
  /** The energy budget of that database, such as `5 kJ/day`; undefined where it has none. */
  readonly energyBudget: string | undefined
}

/**
 * The backups stay until the transaction ends; a restore that is written down by then keeps them. Throws
 * `database_not_found`, `backup_not_found`, and `database_not_restorable` for a time that no backup has.
 */
export async function findOrigin(
  transaction: Queryable,
  of: { readonly account: string; readonly keptMs: number },
  { database, backup, time }: NonNullable<DatabaseRequest['from']>,
): Promise<BackupOrigin> {
  const wanted = await idOfDatabase(transaction, { account: of.account, wanted: database })
  await holdBackups(transaction, wanted)
  const source = await findBackedUp(transaction, { ...of, wanted })
  if (backup === undefined) checkTime(source, time)
  else await checkBackup(transaction, source, backup)
  const njPerDay = await njPerDayOf(transaction, source.id)
  return {
    database: source.id,
    backup: backup ?? null,
    until: time ?? null,
    sizeBytes: Number(source.size_bytes),
    energyBudget: njPerDay === undefined ? undefined : printEnergyPerDay(nj(BigInt(njPerDay))),
  }
}

async function checkBackup(state: Queryable, { id }: BackedUp, backup: string): Promise<void> {
  const { status } = await findBackup(state, id, backup)
  if (status !== 'done')
    throw fault(
      'database_not_restorable',
      `Could not restore the backup "${backup}": it is ${status}`,
    )
}

function checkTime(
  { name, restorable_from: first, restorable }: BackedUp,
  time: string | undefined,
): void {
  if (first === null)
    throw fault(
      'database_not_restorable',
      `Could not restore "${name}": its first backup is not done yet; that of a new database takes a minute or two`,
    )
  const now = new Date().toISOString()
  const wanted = time === undefined ? now : new Date(time).toISOString()
  const isIn = ({ from, to }: RestorableTimes) => from <= wanted && wanted <= (to ?? now)
  if (restorable.some(isIn)) return
  const ranges = restorable.map(({ from, to }) => `from ${from} to ${to ?? now}`)
  throw fault(
    'database_not_restorable',
    `Could not restore "${name}" to ${time ?? 'now'}: it can be restored to ${
      ranges.length === 0 ? 'the ends of its backups alone' : `times ${ranges.join(', or ')}`
    }`,
  )
}
