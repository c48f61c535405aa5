// Four facts of a database: the last minute, today, its budget, its size.
import { bytesExact, bytesShort } from '#console/figures/amounts.ts'
import { moneyShort } from '#console/figures/money.ts'
import { ago } from '#console/figures/time.ts'
import { budgetWords } from '#console/parts/resources/budget-words.ts'
import { Energy } from '#console/parts/energy/energy.tsx'
import { Facts } from '#console/parts/page/facts.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import { useUnit } from '#console/live/use-unit.ts'
import type { Database } from './database.ts'
import { lastMinute } from './last-minute.ts'
import { useBackups, useEnergyNow, useEnergyToday } from './use-databases.ts'

export function DatabaseFacts({ database }: { readonly database: Database }) {
  const energy = useEnergyToday(database).data
  const backups = useBackups(database).data
  const now = useNow('minute')
  const unit = useUnit()
  const newest = backups?.data.find(({ status }) => status === 'done')?.ended_at
  const backup = newest ? `backup ${ago(new Date(newest), now, 'UTC')}` : 'no backup yet'
  return (
    <Facts
      facts={[
        ['Last minute', ...lastMinute(database, useEnergyNow(database).data, now)],
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
