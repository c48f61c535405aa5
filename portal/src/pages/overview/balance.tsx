// What is left, and for how long at today's rate.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '#console/client/queries.ts'
import { energyShort } from '#console/figures/energy.ts'
import { balanceExact } from '#console/figures/money.ts'
import { daysLeft, lasting } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { useToday } from '#console/live/use-today.ts'
import { Loaded } from '#console/parts/loaded.tsx'
import { Section } from '#console/parts/section.tsx'
import { useNow } from '#console/parts/zone.ts'

export function Balance() {
  const query = useQuery(read('GET /v1/balance', {}))
  const live = useLive(({ balance }) => balance)
  const today = useToday()
  const now = useNow('minute')
  return (
    <Section title="Balance" aside={<Link to="/balance">top up</Link>}>
      <Loaded query={query} what="the balance">
        {({ unit, balance_pusd, depleted_since, funded, free_left_nj }) => {
          if (!funded) return <Free leftNj={BigInt(free_left_nj ?? 0)} />
          const balance = BigInt(live?.balance_pusd ?? balance_pusd)
          const isDepleted = (live ?? { depleted_since }).depleted_since !== null
          const days = today === undefined ? undefined : daysLeft(balance, today.pusd, now)
          return (
            <p className="small">
              <b>{balanceExact(balance, unit)}</b>
              {unit === 'tUSD' && ' of test money'}.{' '}
              {isDepleted && <b className="bad">It is used up: requests answer 402. </b>}
              {days !== undefined && `At today’s rate it lasts ${lasting(days)}.`}
            </p>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** Without funds on file the free joules of the day are all there is. */
const Free = ({ leftNj }: { readonly leftNj: bigint }) => (
  <p className="small">
    Nothing is on file: <b>{energyShort(leftNj)}</b> of the free joules of the day are left, until
    00:00 UTC. <Link to="/balance">Put $5 on file</Link>
  </p>
)
