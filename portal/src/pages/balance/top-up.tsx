// Ways in for money: a card, stablecoins where the service takes them, a voucher. The result stands where the button was.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { MoneyUnit } from '#console/figures/money.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { ByStablecoin } from '#console/funds/by-stablecoin.tsx'
import { CardOnItsWay } from '#console/funds/card-on-its-way.tsx'
import { againWhileOnItsWay, isOnItsWay } from '#console/funds/on-its-way.ts'
import { NoCards } from '#console/funds/no-cards.tsx'
import { addCard, redeemVoucher, topUp } from '#console/funds/put-on-file.ts'
import { waysOf, type Way, type WayChoice } from '#console/funds/ways.ts'
import { Choices, Select } from '#console/parts/forms/choices.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { Loaded, ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'

type Methods = ReplyOf<'GET /v1/payment-methods'>
const CARD: WayChoice = ['card', 'Card', 'Its number goes to the processor and never here']

export function TopUp({ unit }: { readonly unit: MoneyUnit }) {
  const [chosen, setWay] = useState<Way>()
  const query = useQuery({
    ...read('GET /v1/payment-methods', {}),
    refetchInterval: againWhileOnItsWay,
  })
  const isTest = unit === 'tUSD'
  return (
    <Loaded query={query} what="the list of cards">
      {(methods) => {
        const ways = waysOf(methods, CARD)
        const way = chosen ?? ways[0]?.[0]
        return (
          <div className="stack">
            {ways.length > 1 ? (
              <Choices legend="Way to pay" value={way} options={ways} onChange={setWay} />
            ) : (
              <NoCards isTest={isTest} />
            )}
            {way === 'card' && <ByCard methods={methods} isTest={isTest} />}
            {way === 'stablecoin' && <ByStablecoin unit={unit} />}
            {way === 'voucher' && <ByVoucher />}
          </div>
        )
      }}
    </Loaded>
  )
}

function ByCard({ methods, isTest }: { readonly methods: Methods; readonly isTest: boolean }) {
  const { data } = methods
  const [amount, setAmount] = useState('20.00')
  const [chosen, setChosen] = useState<string>()
  const add = useAction(async () => goTo(await addCard(isTest)))
  const pay = useAction(async () => goTo(await topUp(amount, chosen)))
  const cards = data.filter(({ status }) => status === 'active')
  return (
    <Form className="stack" action={pay}>
      {cards.length > 0 && (
        <div className="paying">
          <Field
            label={isTest ? 'tUSD' : 'Dollars'}
            name="amount"
            inputMode="decimal"
            required
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
          />
          <Select
            label="Card"
            value={chosen ?? cards[0]?.id ?? ''}
            options={cards.map(({ id, label }) => [id, label] as const)}
            onChange={setChosen}
          />
        </div>
      )}
      {data.some(isOnItsWay) && <CardOnItsWay />}
      <Refused error={pay.error ?? add.error} />
      <div className="tools">
        {cards.length > 0 && (
          <button type="submit" className="btn primary" disabled={pay.isBusy}>
            Top up
          </button>
        )}
        <button type="button" className="btn" disabled={add.isBusy} onClick={add.run}>
          {isTest ? 'Add a test card' : 'Add a card'}
        </button>
      </div>
    </Form>
  )
}

function ByVoucher() {
  const [code, setCode] = useState('')
  const [isDone, setDone] = useState(false)
  const action = useAction(async () => {
    await redeemVoucher(code)
    setCode('')
    setDone(true)
  })
  return (
    <Form className="stack" action={action}>
      <Field
        label="Code of a voucher, or of points"
        name="code"
        required
        spellCheck={false}
        placeholder="2kdq-8w3v-…"
        value={code}
        onChange={({ target }) => setCode(target.value)}
      />
      <Refused error={action.error} />
      {isDone && (
        <p className="small ok" role="status">
          It is redeemed: the balance has it.
        </p>
      )}
      <div className="tools">
        <button type="submit" className="btn" disabled={action.isBusy}>
          Redeem
        </button>
      </div>
    </Form>
  )
}

/** The processor's own page, where the payer goes on. */
function goTo(page: string | undefined): void {
  if (page !== undefined) location.assign(page)
}

const Refused = ({ error }: { readonly error: unknown }) =>
  error === undefined ? null : <ProblemNote error={error} />
