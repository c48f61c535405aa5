// Four facts of a workload: now, today, its budget, its size.
import { bytesShort } from '#console/figures/amounts.ts'
import { power } from '#console/figures/energy.ts'
import { counted } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { budgetWords } from '#console/parts/resources/budget-words.ts'
import { Facts } from '#console/parts/page/facts.tsx'
import { useTodayFact, type Charged } from '#console/parts/resources/energy-today.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import { useEnergy } from './use-workloads.ts'
import type { Workload } from './workload.ts'

export const WorkloadFacts = ({ one }: { readonly one: Workload }) => (
  <Facts
    facts={[
      [
        'Now',
        <Now key="now" one={one} />,
        `${counted(one.instances, 'instance')}; ${scaleWords(one)}`,
      ],
      useTodayFact(useToday(one)),
      ['Energy budget', ...budgetWords(one, 'its instances')],
      [
        'Size',
        bytesShort(BigInt(one.memory_bytes)),
        `of memory and ${counted(one.cpu, 'processor')}, each instance`,
      ],
    ]}
  />
)

function Now({ one }: { readonly one: Workload }) {
  const watts = useLive(({ running }) => running.get(one.id))
  return one.instances === 0 ? 'asleep' : watts === undefined ? 'awake' : power(watts)
}

/** The sum comes from the hours that the page shows below, so both say the same. */
function useToday(one: Workload): Charged | undefined {
  const day = useNow('day').toISOString().slice(0, 10)
  const { data } = useEnergy(one)
  return data?.data
    .filter(({ at }) => at.startsWith(day))
    .reduce(
      (sum, hour) => ({
        nj: sum.nj + BigInt(hour.energy_nj),
        pusd: sum.pusd + BigInt(hour.charge_pusd),
      }),
      { nj: 0n, pusd: 0n },
    )
}

/** Between which counts it is scaled, on how many requests, and when it sleeps. */
function scaleWords({ scale, scale_to_zero_after: after }: Workload): string {
  const { min, max, target_requests: target } = scale
  const each = `${counted(target, 'request')} at once each`
  if (min > 0) return min === max ? 'runs always' : `${min} to ${max}, of ${each}, never asleep`
  return `${max === 1 ? '' : `up to ${max}, of ${each}; `}asleep after ${after} without a request`
}
