// Step 3: funds on file lift the free tier.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../client/problem.ts'
import { read } from '../client/queries.ts'
import { addCard, holdFunds, redeemVoucher } from '../funds/put-on-file.ts'
import { Choices } from '../parts/choices.tsx'
import { Command } from '../parts/copy.tsx'
import { Field } from '../parts/field.tsx'
import { ProblemNote } from '../parts/loaded.tsx'
import { useAction } from '../parts/use-action.ts'

type Way = 'test' | 'card' | 'voucher'
const TEST: readonly [Way, string, string] = [
  'test',
  'Test money',
  'A card that is none, for trying on this machine',
]
const WAYS: readonly (readonly [Way, string, string])[] = [
  ['card', 'Card', '$5 are reserved, the rest is released'],
  ['voucher', 'Voucher or points', 'A code such as 2kdq-8w3v-…'],
]

export function Funds({ onDone }: { readonly onDone: () => void }) {
  const account = useQuery(read('GET /v1/account', {}))
  const isTest = account.data?.env === 'test'
  const ways = isTest ? [TEST, ...WAYS.slice(1)] : WAYS
  const [chosen, setChosen] = useState<Way>()
  const way = chosen ?? ways[0]?.[0] ?? 'card'
  const [code, setCode] = useState('')
  const action = useAction(async () => {
    if (way === 'voucher') await redeemVoucher(code)
    else {
      const page = (await addCard(isTest)) ?? (await holdFunds())
      if (page !== undefined) {
        location.assign(page)
        return
      }
    }
    onDone()
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        action.run()
      }}
    >
      <h1>Put $5 on file</h1>
      <p className="small">
        It is held, not taken. What you use is taken from it, to the joule; $5 is 72 MJ.
      </p>
      <Choices legend="Way to pay" value={way} options={ways} onChange={setChosen} />
      {way === 'voucher' && (
        <Field
          label="Code"
          name="code"
          required
          spellCheck={false}
          value={code}
          error={action.error}
          onChange={({ target }) => setCode(target.value)}
        />
      )}
      {isProblem(action.error, 'payments_off') ? (
        <PaymentsOff account={account.data?.id ?? ''} />
      ) : (
        action.error !== undefined && <ProblemNote error={action.error} />
      )}
      <div className="tools">
        <button type="submit" className="btn primary" disabled={action.isBusy}>
          Put on file
        </button>
        <button type="button" className="btn" onClick={onDone}>
          Stay on 50 kJ a day
        </button>
      </div>
    </form>
  )
}

const PaymentsOff = ({ account }: { readonly account: string }) => (
  <div className="stack">
    <div className="note warn" role="alert">
      <p>This Ergon takes no cards yet. Its operator can give you money with</p>
    </div>
    <Command text={`ergon admin funds add ${account} 5`} label="Command" />
  </div>
)
