// A top-up by stablecoin in two steps: where the tokens go, then the claim of the transfer, signed by the wallet that sent them.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { isProblem } from '#console/client/problem.ts'
import { withTouch } from '#console/client/touch.ts'
import type { MoneyUnit } from '#console/figures/money.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { Refusal } from '#console/parts/forms/refusal.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { paymentsChanged } from './payments-changed.ts'

/** The offer in a 402 payment_required. */
type Offer = Readonly<
  Record<'network' | 'token' | 'receiver' | 'units' | 'pay_link' | 'claim_text', string>
> & { readonly confirmations: number }

export function ByStablecoin({ unit }: { readonly unit: MoneyUnit }) {
  const [amount, setAmount] = useState('20.00')
  const [offer, setOffer] = useState<Offer>()
  const ask = useAction(async () => setOffer(await offerOf(amount.trim())))
  if (offer !== undefined) return <Pay offer={offer} />
  return (
    <Form className="stack" action={ask}>
      <Field
        label={unit === 'tUSD' ? 'tUSD' : 'Dollars'}
        name="amount"
        inputMode="decimal"
        required
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
      />
      <Refusal error={ask.error} />
      <div className="tools">
        <button type="submit" className="btn primary" disabled={ask.isBusy}>
          Show where to pay
        </button>
      </div>
    </Form>
  )
}

function Pay({ offer }: { readonly offer: Offer }) {
  const { network, token, receiver, units, pay_link, confirmations } = offer
  return (
    <div className="stack">
      <p className="small wrap-anywhere">
        Send {units} units of the token {token} on {network} to this address, or{' '}
        <a href={pay_link}>open your wallet</a>. A contract wallet cannot claim.
      </p>
      <Command text={receiver} label="Receiver" />
      <Claim offer={offer} />
      <p className="small">The balance has the money after {confirmations} blocks.</p>
    </div>
  )
}

function Claim({ offer: { network, claim_text } }: { readonly offer: Offer }) {
  const [typed, setTransaction] = useState('')
  const [signature, setSignature] = useState('')
  const [isDone, setDone] = useState(false)
  const transaction = typed.trim()
  const claim = useAction(async () => {
    const transfer = { network, transaction, signature: signature.trim() }
    await withTouch(() => call('POST /v1/topups', { body: { method: 'stablecoin', transfer } }))
    await paymentsChanged()
    setDone(true)
  })
  if (isDone)
    return (
      <p className="small ok" role="status">
        The transfer is claimed. It is among the payments of the account.
      </p>
    )
  return (
    <Form className="stack" action={claim}>
      <Field
        label="Transaction"
        name="transfer.transaction"
        required
        spellCheck={false}
        placeholder="0x…"
        hint="Its hash, once you have sent the tokens."
        value={typed}
        onChange={({ target }) => setTransaction(target.value)}
      />
      {transaction !== '' && (
        <Command text={claim_text.replace('<transaction>', transaction)} label="Text to sign" />
      )}
      <Field
        label="Signature"
        name="transfer.signature"
        required
        spellCheck={false}
        placeholder="0x…"
        hint="Of the text, by the wallet that sent the tokens (personal_sign)."
        value={signature}
        onChange={({ target }) => setSignature(target.value)}
      />
      <Refusal error={claim.error} />
      <div className="tools">
        <button type="submit" className="btn primary" disabled={claim.isBusy}>
          Claim the transfer
        </button>
      </div>
    </Form>
  )
}

/** The first answer of the service is a refusal that says how to pay. */
async function offerOf(amount: string): Promise<Offer> {
  try {
    await withTouch(() => call('POST /v1/topups', { body: { method: 'stablecoin', amount } }))
  } catch (error) {
    if (isProblem(error, 'payment_required')) return error.document as unknown as Offer
    throw error
  }
  throw new TypeError('The service asked for no payment')
}
