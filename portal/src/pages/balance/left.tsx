// The large figure of the balance, and the time that it lasts at today's rate.
import type { ReplyOf } from '#console/client/operations.ts'
import { NBSP } from '#console/figures/digits.ts'
import { energyLeft } from '#console/figures/energy.ts'
import { balanceExact } from '#console/figures/money.ts'
import { daysLeft, lasting } from '#console/figures/time.ts'
import { useToday } from '#console/live/use-today.ts'
import { useNow } from '#console/parts/time/zone.ts'

export type Balance = ReplyOf<'GET /v1/balance'>

export function Left({
  balance: { balance_pusd, unit, low_water_pusd, funded, free_left_nj },
}: {
  readonly balance: Balance
}) {
  const today = useToday()
  const now = useNow('minute')
  const balance = BigInt(balance_pusd)
  const text = balanceExact(balance, unit)
  const cents = text.indexOf('.') + 3
  const days = today === undefined ? undefined : daysLeft(balance, today.pusd, now)
  const isLow = funded && balance < BigInt(low_water_pusd)
  return (
    <section className="plate left" aria-label="Balance" data-copy={text}>
      <p className="register middle" style={lengthOf(text)}>
        <span className="digits">
          <b>{text.slice(0, cents)}</b>
          <i>{text.slice(cents).split(NBSP)[0]}</i>
          <span className="unit">{unit === 'tUSD' ? 'tUSD' : 'dollars'}</span>
        </span>
      </p>
      <p className="small">
        {unit === 'tUSD' && 'Test money: nothing is owed. '}
        {days !== undefined && `At today’s rate it lasts ${lasting(days)}. `}
        {free_left_nj !== null &&
          `Nothing is on file: ${energyLeft(BigInt(free_left_nj))} of the free joules of the day are left. `}
        {isLow && <b className="warn">It is below your low-water mark.</b>}
      </p>
    </section>
  )
}

/** A narrow page makes the digits, with the unit, as large as they fit. */
const lengthOf = (text: string) => ({ '--digits': text.length }) as React.CSSProperties
