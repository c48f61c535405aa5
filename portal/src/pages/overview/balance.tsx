// What is left, and for how long at today's rate.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '#console/client/queries.ts'
import { energyLeft } from '#console/figures/energy.ts'
import { balanceExact, type MoneyUnit } from '#console/figures/money.ts'
import { daysLeft, lasting } from '#console/figures/time.ts'
import { useIsLate, useLive } from '#console/live/use-live.ts'
import { useToday } from '#console/live/use-today.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useNow } from '#console/parts/time/zone.ts'

/** The live stream tells nothing of the free joules. */
const SHOWN_MS = 60_000

export function Balance() {
  const live = useLive(({ balance }) => balance)
  const isLate = useIsLate()
  // Money that is there says all that the section shows.
  const isWhole = live !== undefined && BigInt(live.balance_pusd) > 0n
  const query = useQuery({
    ...read('GET /v1/balance', {}),
    enabled: !isWhole && (isLate || live !== undefined),
    refetchInterval: SHOWN_MS,
  })
  return (
    <Section title="Balance" aside={<Link to="/balance">top up</Link>}>
      {isWhole ? (
        <Left {...live} />
      ) : (
        <Loaded query={query} what="the balance">
          {(read) =>
            read.funded ? (
              <Left {...read} {...live} />
            ) : (
              <Free leftNj={BigInt(read.free_left_nj ?? 0)} />
            )
          }
        </Loaded>
      )}
    </Section>
  )
}

type LeftProps = {
  readonly unit: MoneyUnit
  readonly balance_pusd: string
  readonly depleted_since: string | null
}

function Left({ unit, balance_pusd, depleted_since }: LeftProps) {
  const today = useToday()
  const now = useNow('minute')
  const balance = BigInt(balance_pusd)
  const days = today === undefined ? undefined : daysLeft(balance, today.pusd, now)
  return (
    <p className="small">
      <b>{balanceExact(balance, unit)}</b>
      {unit === 'tUSD' && ' of test money'}.{' '}
      {depleted_since !== null && <b className="bad">It is used up: requests answer 402. </b>}
      {days !== undefined && `At today’s rate it lasts ${lasting(days)}.`}
    </p>
  )
}

/** Without funds on file the free joules of the day are all there is. */
const Free = ({ leftNj }: { readonly leftNj: bigint }) => (
  <p className="small">
    Nothing is on file: <b>{energyLeft(leftNj)}</b> of the free joules of the day are left, until
    00:00 UTC. <Link to="/balance">Put $5 on file</Link>
  </p>
)
