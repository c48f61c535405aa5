// Two ways to take a payment back: it is canceled before it is paid, or what is not spent of it is given back.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { withTouch } from '#console/client/touch.ts'
import { balanceShort } from '#console/figures/money.ts'
import { paymentsChanged } from '#console/funds/payments-changed.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Dialog } from '#console/parts/forms/dialog.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import type { Topup } from './payment.ts'

type Props = { readonly topup: Topup; readonly onClose: () => void }

const amountOf = ({ amount_pusd, unit }: Topup): string => balanceShort(BigInt(amount_pusd), unit)

export const CancelPayment = ({ topup, onClose }: Props) => (
  <Confirm
    title={`Cancel the payment of ${amountOf(topup)}`}
    verb="Cancel it"
    onClose={onClose}
    act={async () => {
      await call('DELETE /v1/topups/:topup', { path: { topup: topup.id } })
      await paymentsChanged()
    }}
  >
    Nothing is taken from the card. If the bank has taken it at this moment, the money is balance,
    and can be given back.
  </Confirm>
)

export function RefundPayment({ topup, onClose }: Props) {
  const [amount, setAmount] = useState('')
  const [begun, setBegun] = useState<ReplyOf<'POST /v1/topups/:topup/refunds'>>()
  const act = async () => {
    const body = amount.trim() === '' ? {} : { amount: amount.trim() }
    const made = await withTouch(() =>
      call('POST /v1/topups/:topup/refunds', { path: { topup: topup.id }, body }),
    )
    await paymentsChanged()
    setBegun(made)
  }
  if (begun !== undefined)
    return <OnItsWay refund={begun} isByCard={topup.transfer === null} onClose={onClose} />
  return (
    <FormDialog
      title={`Give back of ${amountOf(topup)}`}
      verb="Give it back"
      act={act}
      onClose={onClose}
    >
      <p className="small">
        It leaves the balance now and goes back the way that it came. What is spent stays spent.
      </p>
      <Field
        label={topup.unit}
        name="amount"
        inputMode="decimal"
        placeholder="all that is left"
        hint="In whole cents, such as 2.50; empty is all that is left of it."
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
      />
    </FormDialog>
  )
}

function OnItsWay(props: {
  readonly refund: ReplyOf<'POST /v1/topups/:topup/refunds'>
  readonly isByCard: boolean
  readonly onClose: () => void
}) {
  const { refund, isByCard, onClose } = props
  return (
    <Dialog title="On its way back" onClose={onClose}>
      <p className="small" role="status">
        {balanceShort(BigInt(refund.amount_pusd), refund.unit)} left the balance.{' '}
        {isByCard
          ? 'The bank can take days; if it refuses'
          : 'The operator sends the tokens to the wallet that paid, or refuses; then'}
        , the money is balance again. The ledger has both.
      </p>
      <div className="tools">
        <button type="button" className="btn primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
