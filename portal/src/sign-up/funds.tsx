// Step 3: funds on file end the free tier. It offers the ways that work here, and none where the account has money already.
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { energyFor, freeDay } from '#console/client/terms.ts'
import { addCard, holdFunds, redeemVoucher } from '#console/funds/put-on-file.ts'
import { ByStablecoin } from '#console/funds/by-stablecoin.tsx'
import { CardOnItsWay } from '#console/funds/card-on-its-way.tsx'
import { againWhileOnItsWay, isOnItsWay } from '#console/funds/on-its-way.ts'
import { NoCards } from '#console/funds/no-cards.tsx'
import { waysOf, type Way, type WayChoice } from '#console/funds/ways.ts'
import { balanceExact, type MoneyUnit } from '#console/figures/money.ts'
import { useLive } from '#console/live/use-live.ts'
import { Choices } from '#console/parts/forms/choices.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Refusal } from '#console/parts/forms/refusal.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { leaveToPay } from './progress.ts'

type Methods = ReplyOf<'GET /v1/payment-methods'>
type Balance = ReplyOf<'GET /v1/balance'>
type Step = { readonly onDone: () => void }

const TEST_CARD: WayChoice = [
  'card',
  'Test money',
  'A card that is none, for trying on this machine',
]
const CARD: WayChoice = ['card', 'Card', '$5 are reserved, the rest is released']

/** Money that others give is shown without a reload. */
const AGAIN_MS = 2_000
const HELD_PUSD = 5_000_000_000_000n

export function Funds({ onDone }: Step) {
  const live = useLive(({ balance: now }) => now?.balance_pusd)
  const balance = useQuery({
    ...read('GET /v1/balance', {}),
    refetchInterval: ({ state: { data } }) =>
      live !== undefined && data?.balance_pusd === '0' && live !== '0' ? AGAIN_MS : false,
  })
  const methods = useQuery({
    ...read('GET /v1/payment-methods', {}),
    refetchInterval: againWhileOnItsWay,
  })
  return (
    <Loaded query={balance} what="the balance">
      {(has) =>
        BigInt(has.balance_pusd) > 0n ? (
          <OnFile balance={has} onDone={onDone} />
        ) : (
          <Loaded query={methods} what="the list of cards">
            {(ways) => <PutOnFile methods={ways} unit={has.unit} onDone={onDone} />}
          </Loaded>
        )
      }
    </Loaded>
  )
}

const OnFile = ({ balance: { balance_pusd, unit }, onDone }: Step & { balance: Balance }) => (
  <>
    <h1>Funds are on file</h1>
    <p className="small">
      The account has <b>{balanceExact(BigInt(balance_pusd), unit)}</b>
      {unit === 'tUSD' && ' of test money: nothing is owed'}. What you use is taken from it, to the
      joule.
    </p>
    <div className="tools">
      <button type="button" className="btn primary" onClick={onDone}>
        Go on
      </button>
    </div>
  </>
)

function PutOnFile(props: Step & { readonly methods: Methods; readonly unit: MoneyUnit }) {
  const { methods, unit, onDone } = props
  const isTest = unit === 'tUSD'
  const ways = waysOf(methods, isTest ? TEST_CARD : CARD)
  const [chosen, setWay] = useState<Way>()
  const way = chosen ?? ways[0]?.[0]
  const free = freeDay()
  const bought = energyFor(HELD_PUSD)
  const later = (
    <button type="button" className="btn" onClick={onDone}>
      {free === undefined ? 'Later' : `Stay on ${free} a day`}
    </button>
  )
  return (
    <>
      <h1>Put $5 on file</h1>
      <p className="small">
        {methods.takes_cards && 'It is held, not taken. '}What you use is taken from it, to the
        joule
        {bought !== undefined && `; $5 is ${bought}`}.
        {free !== undefined &&
          ' With money on file each joule is paid, and there is no limit of a day.'}
      </p>
      {ways.length > 1 ? (
        <Choices legend="Way to pay" value={way} options={ways} onChange={setWay} />
      ) : (
        <NoCards isTest={isTest} />
      )}
      {way === 'card' && (
        <ByCard methods={methods} isTest={isTest} onDone={onDone} wayOut={later} />
      )}
      {way === 'voucher' && <ByVoucher onDone={onDone} wayOut={later} />}
      {way === 'stablecoin' && (
        <>
          <ByStablecoin unit={unit} />
          <div className="tools">{later}</div>
        </>
      )}
    </>
  )
}

type PayingStep = Step & { readonly wayOut: ReactNode }

function ByCard(props: PayingStep & { readonly methods: Methods; readonly isTest: boolean }) {
  const { methods, isTest, onDone, wayOut } = props
  // Given on the page of the processor, from which the payer is back.
  const hasCard = methods.data.some(({ status }) => status === 'active')
  const action = useAction(async () => {
    const page = (hasCard ? undefined : await addCard(isTest)) ?? (await holdFunds())
    if (page === undefined) onDone()
    else {
      leaveToPay(sessionStorage)
      location.assign(page)
    }
  })
  return (
    <Form action={action}>
      {!hasCard && methods.data.some(isOnItsWay) && <CardOnItsWay />}
      <Refusal error={action.error} />
      <div className="tools">
        <button type="submit" className="btn primary" disabled={action.isBusy}>
          Put on file
        </button>
        {wayOut}
      </div>
    </Form>
  )
}

function ByVoucher({ onDone, wayOut }: PayingStep) {
  const [code, setCode] = useState('')
  const action = useAction(async () => {
    await redeemVoucher(code)
    onDone()
  })
  return (
    <Form action={action}>
      <Field
        label="Code of a voucher, or of points"
        name="code"
        required
        spellCheck={false}
        value={code}
        onChange={({ target }) => setCode(target.value)}
      />
      <Refusal error={action.error} />
      <div className="tools">
        <button type="submit" className="btn primary" disabled={action.isBusy}>
          Redeem
        </button>
        {wayOut}
      </div>
    </Form>
  )
}
