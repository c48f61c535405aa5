// Step 3: funds on file lift the free tier. It offers the ways that work here, and none where the account has money already.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { addCard, holdFunds, redeemVoucher } from '#console/funds/put-on-file.ts'
import { CardOnItsWay } from '#console/funds/card-on-its-way.tsx'
import { againWhileOnItsWay, isOnItsWay } from '#console/funds/on-its-way.ts'
import { NoCards } from '#console/funds/no-cards.tsx'
import { balanceExact } from '#console/figures/money.ts'
import { Choices } from '#console/parts/choices.tsx'
import { Field } from '#console/parts/field.tsx'
import { Form } from '#console/parts/form.tsx'
import { Loaded, ProblemNote } from '#console/parts/loaded.tsx'
import { useAction } from '#console/parts/use-action.ts'
import { leaveToPay } from './progress.ts'

type Way = 'card' | 'voucher'
type Balance = ReplyOf<'GET /v1/balance'>
type Step = { readonly onDone: () => void }

const TEST_CARD = ['card', 'Test money', 'A card that is none, for trying on this machine'] as const
const CARD = ['card', 'Card', '$5 are reserved, the rest is released'] as const
const VOUCHER = ['voucher', 'Voucher or points', 'A code such as 2kdq-8w3v-…'] as const

export function Funds({ onDone }: Step) {
  const balance = useQuery(read('GET /v1/balance', {}))
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
            {({ takes_cards, data }) => (
              <PutOnFile
                takesCards={takes_cards}
                hasCard={data.some(({ status }) => status === 'active')}
                isCardOnItsWay={data.some(isOnItsWay)}
                isTest={has.unit === 'tUSD'}
                onDone={onDone}
              />
            )}
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

function PutOnFile(
  props: Step & {
    readonly takesCards: boolean
    /** Given on the page of the processor, from which the payer is back. */
    readonly hasCard: boolean
    readonly isCardOnItsWay: boolean
    readonly isTest: boolean
  },
) {
  const { takesCards, hasCard, isCardOnItsWay, isTest, onDone } = props
  const [way, setWay] = useState<Way>(takesCards ? 'card' : 'voucher')
  const [code, setCode] = useState('')
  const action = useAction(async () => {
    if (way === 'voucher') await redeemVoucher(code)
    else {
      const page = (hasCard ? undefined : await addCard(isTest)) ?? (await holdFunds())
      if (page !== undefined) {
        leaveToPay(sessionStorage)
        location.assign(page)
        return
      }
    }
    onDone()
  })
  return (
    <Form action={action}>
      <h1>Put $5 on file</h1>
      <p className="small">
        It is held, not taken. What you use is taken from it, to the joule; $5 is 72 MJ.
      </p>
      {takesCards ? (
        <Choices
          legend="Way to pay"
          value={way}
          options={[isTest ? TEST_CARD : CARD, VOUCHER]}
          onChange={setWay}
        />
      ) : (
        <NoCards isTest={isTest} />
      )}
      {way === 'voucher' && (
        <Field
          label={takesCards ? 'Code' : 'Code of a voucher, or of points'}
          name="code"
          required
          spellCheck={false}
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      )}
      {way === 'card' && !hasCard && isCardOnItsWay && <CardOnItsWay />}
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="submit" className="btn primary" disabled={action.isBusy}>
          {way === 'card' ? 'Put on file' : 'Redeem'}
        </button>
        <button type="button" className="btn" onClick={onDone}>
          Stay on the free joules of the day
        </button>
      </div>
    </Form>
  )
}
