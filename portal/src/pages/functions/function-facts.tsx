// Four facts of a function: now, today, its budget, its last failure.
import { bytesShort } from '#console/figures/amounts.ts'
import { power } from '#console/figures/energy.ts'
import { ago } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { budgetWords } from '#console/parts/resources/budget-words.ts'
import { Facts } from '#console/parts/page/facts.tsx'
import { useEnergyToday, useTodayFact } from '#console/parts/resources/energy-today.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import type { Deployed } from './function.ts'
import { useLog } from './use-functions.ts'

export function FunctionFacts({ one }: { readonly one: Deployed }) {
  const watts = useLive(({ running }) => running.get(one.id))
  const isAwake = useLive(({ resources }) => resources.get(one.id)?.awake)
  return (
    <Facts
      facts={[
        [
          'Now',
          isAwake === undefined ? '' : !isAwake ? 'asleep' : watts ? power(watts) : 'awake',
          sizeWords(one),
        ],
        useTodayFact(useEnergyToday('function', one.id)),
        ['Energy budget', ...budgetWords(one, 'its process')],
        ['Last error', ...useLastError(one)],
      ]}
    />
  )
}

const sizeWords = ({ runtime, memory_bytes: memory, timeout_s: timeout }: Deployed): string =>
  `${runtime}, ${bytesShort(BigInt(memory))}, ${timeout} s a request`

/** The last error among the newest lines of its log. */
function useLastError(one: Deployed): readonly [string, string] {
  const now = useNow('minute')
  const lines = useLog(one, false).data?.data
  const last = lines?.findLast(({ level }) => level === 'error')
  if (lines === undefined) return ['', '']
  return last === undefined
    ? ['none', 'in the newest lines of its log']
    : [ago(new Date(last.at), now, 'UTC'), (last.text.split('\n')[0] ?? '').slice(0, 80)]
}
