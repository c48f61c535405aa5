// Four facts of a database: the last minute, today, its budget, its size.
import { bytesExact, bytesShort } from '#console/figures/amounts.ts'
import { power } from '#console/figures/energy.ts'
import { moneyShort } from '#console/figures/money.ts'
import { ago } from '#console/figures/time.ts'
import { budgetWords } from '#console/parts/budget-words.ts'
import { Energy } from '#console/parts/energy.tsx'
import { Facts } from '#console/parts/facts.tsx'
import { useNow } from '#console/parts/zone.ts'
import { useUnit } from '#console/live/use-unit.ts'
import type { Database, DatabaseEnergy } from './database.ts'
import { LAST_MS, useBackups, useEnergyNow, useEnergyToday } from './use-databases.ts'

const MINUTE_S = 60n

export function DatabaseFacts({ database }: { readonly database: Database }) {
  const energy = useEnergyToday(database).data
  const backups = useBackups(database).data
  const now = useNow('minute')
  const unit = useUnit()
  const last = lastMinute(useEnergyNow(database).data, now)
  const newest = backups?.data.find(({ status }) => status === 'done')?.ended_at
  const backup = newest ? `backup ${ago(new Date(newest), now, 'UTC')}` : 'no backup yet'
  return (
    <Facts
      facts={[
        [
          'Last minute',
          last === undefined ? '' : power(last),
          last === 0n ? 'asleep: only stored bytes cost' : 'its server, sessions and stored bytes',
        ],
        [
          'Today',
          energy === undefined ? '' : <Energy key="today" nj={BigInt(energy.energy_nj)} />,
          energy !== undefined && `${moneyShort(BigInt(energy.charge_pusd), unit)} since 00:00 UTC`,
        ],
        ['Energy budget', ...budgetWords(database, 'its server')],
        [
          'Size',
          <span key="size" title={bytesExact(BigInt(database.stored_bytes))}>
            {bytesShort(BigInt(database.stored_bytes))}
          </span>,
          `of ${bytesShort(BigInt(database.size_bytes))}; ${backup}`,
        ],
      ]}
    />
  )
}

/** Mean power of the newest minute that was charged, in nanojoules a second; zero when it is long ago. */
function lastMinute(energy: DatabaseEnergy | undefined, now: Date): bigint | undefined {
  if (energy === undefined) return undefined
  const newest = energy.data.at(-1)
  const isNew = newest !== undefined && now.getTime() - new Date(newest.at).getTime() < LAST_MS
  return isNew ? BigInt(newest.energy_nj) / MINUTE_S : 0n
}
