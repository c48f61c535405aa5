// The balance: what is left and for how long, what it is made of, and how more comes in.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { balanceExact, balanceShort } from '#console/figures/money.ts'
import { ago } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useNow, useZone } from '#console/parts/time/zone.ts'
import { Head } from '#console/shell/head.tsx'
import { AutomaticTopUps } from './automatic.tsx'
import { Cards } from './cards.tsx'
import { Left, type Balance } from './left.tsx'
import { Lots } from './lots.tsx'
import { Payments } from './payments.tsx'
import { TopUp } from './top-up.tsx'
import './balance.css'

const AGAIN_MS = 5_000
const SHOWN_MS = 60_000

export function Page() {
  const live = useLive(({ balance }) => balance?.balance_pusd)
  // All figures are of one answer, so that they add up. A read is charged and moves the balance itself: only a change of
  // the cents has the answer read again soon. Free joules and reserved money change without one.
  const query = useQuery({
    ...read('GET /v1/balance', {}),
    refetchInterval: ({ state: { data } }) =>
      live !== undefined && data !== undefined && hasOtherCents(live, data) ? AGAIN_MS : SHOWN_MS,
  })
  return (
    <>
      <Head title="Balance" />
      <Loaded query={query} what="the balance">
        {(balance) => (
          <div className="stack wide">
            <Left balance={balance} />
            {balance.depleted_since !== null && <Depleted since={balance.depleted_since} />}
            <div className="balance-columns">
              <Section title="Top up">
                <TopUp unit={balance.unit} />
              </Section>
              <Section title="Made of">
                <Lots balance={balance} />
              </Section>
            </div>
            <Cards />
            <AutomaticTopUps balance={balance} />
            <Section title="Reserved">
              <Kept balance={balance} />
            </Section>
            <Section title="Payments">
              <Payments />
            </Section>
          </div>
        )}
      </Loaded>
    </>
  )
}

const hasOtherCents = (live: string, { balance_pusd: known, unit }: Balance): boolean =>
  balanceShort(BigInt(live), unit) !== balanceShort(BigInt(known), unit)

function Depleted({ since }: { readonly since: string }) {
  const now = useNow('minute')
  const zone = useZone()
  return (
    <div className="note bad" role="alert">
      <p>
        <b>Requests answer 402.</b> The balance was used up {ago(new Date(since), now, zone)}. What
        runs is suspended; nothing is deleted.
      </p>
    </div>
  )
}

function Kept({ balance }: { readonly balance: Balance }) {
  const { unit } = balance
  return (
    <dl className="facts">
      <div>
        <dt>Running work</dt>
        <dd className="kept">
          {balanceExact(BigInt(balance.reserved_pusd), unit)}
          <small>the most that it can still cost</small>
        </dd>
      </div>
      <div>
        <dt>For the last minute</dt>
        <dd className="kept">
          {balanceExact(BigInt(balance.grace_pusd), unit)}
          <small>a minute of all that runs, so that at zero it can be stopped in order</small>
        </dd>
      </div>
      <div>
        <dt>For stored bytes</dt>
        <dd className="kept">
          {balanceExact(BigInt(balance.retention_pusd), unit)}
          <small>some days of their cost, so that nothing is lost at zero</small>
        </dd>
      </div>
      <div>
        <dt>New work can have</dt>
        <dd className="kept">
          {balanceExact(BigInt(balance.available_pusd), unit)}
          <small>the balance without those three</small>
        </dd>
      </div>
    </dl>
  )
}
