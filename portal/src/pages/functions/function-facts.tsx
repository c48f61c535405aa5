// Four facts of a function: now, today, its budget, its last failure.
import { bytesShort } from '#console/figures/amounts.ts'
import { moneyShort } from '#console/figures/money.ts'
import { ago } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { budgetWords } from '#console/parts/budget-words.ts'
import { Energy } from '#console/parts/energy.tsx'
import { Facts } from '#console/parts/facts.tsx'
import { useNow } from '#console/parts/zone.ts'
import type { Deployed } from './function.ts'
import { useFunctionsToday, useLog } from './use-functions.ts'

export function FunctionFacts({ one }: { readonly one: Deployed }) {
  const today = useFunctionsToday()(one.id)
  const isAwake = useLive(({ resources }) => resources.get(one.id)?.awake)
  const unit = useUnit()
  return (
    <Facts
      facts={[
        ['Now', isAwake === undefined ? '' : isAwake ? 'awake' : 'asleep', sizeWords(one)],
        [
          'Today',
          today === undefined ? '' : <Energy key="today" nj={today.nj} />,
          today !== undefined && `${moneyShort(today.pusd, unit)} since 00:00 UTC`,
        ],
        ['Energy budget', ...budgetWords(one, 'its process')],
        ['Last error', ...useLastError(one)],
      ]}
    />
  )
}

const sizeWords = ({ runtime, memory_bytes: memory, timeout_s: timeout }: Deployed): string =>
  `${runtime}, ${bytesShort(BigInt(memory))}, ${timeout} s a request`

/** Of the newest lines of its log. */
function useLastError(one: Deployed): readonly [string, string] {
  const now = useNow('minute')
  const lines = useLog(one, false).data?.data
  const last = lines?.findLast(({ level }) => level === 'error')
  if (lines === undefined) return ['', '']
  return last === undefined
    ? ['none', 'in the newest lines of its log']
    : [ago(new Date(last.at), now, 'UTC'), (last.text.split('\n')[0] ?? '').slice(0, 80)]
}
