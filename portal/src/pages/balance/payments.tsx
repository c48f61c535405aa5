// The payments of the account, the newest first; those that can be taken back have the button.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readPages, rowsOf } from '#console/client/queries.ts'
import { balanceShort } from '#console/figures/money.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { When } from '#console/parts/time/when.tsx'
import { isOpen, isRefundable, type Topup } from './payment.ts'
import { CancelPayment, RefundPayment } from './take-back.tsx'

type State = { readonly tone: Tone; readonly word: string }
const STATES: Readonly<Record<string, State>> = {
  created: { tone: 'muted', word: 'under way' },
  requires_action: { tone: 'warn', word: 'waits for you' },
  authorized: { tone: 'ok', word: 'held' },
  captured: { tone: 'ok', word: 'paid' },
  voided: { tone: 'muted', word: 'canceled' },
  expired: { tone: 'muted', word: 'ended' },
  failed: { tone: 'bad', word: 'failed' },
  disputed: { tone: 'bad', word: 'disputed' },
}
/** A hold that ends was held; a payment that is canceled never had the money. */
const stateOf = ({ kind, status }: Topup): State =>
  kind === 'hold' && status === 'voided'
    ? { tone: 'muted', word: 'given back' }
    : (STATES[status] ?? { tone: 'muted', word: status })
const UNDER_WAY_MS = 2_000
/** Payments are made by the rule of automatic top-ups too. */
const SHOWN_MS = 60_000
const KINDS = { hold: 'Hold', topup: 'Top-up', automatic: 'Automatic top-up' }

const COLUMNS: readonly Column<Topup>[] = [
  {
    title: 'What',
    className: 'wrap-anywhere',
    cell: (row) => (
      <>
        {KINDS[row.kind]} <span className="muted">{row.processor}</span>
        {row.reason !== null && <span className="bad"> {row.reason}</span>}
        <span className="under">
          {stateOf(row).word}, <When at={row.created_at} />
        </span>
      </>
    ),
  },
  { title: 'State', className: 'wide-only', cell: (row) => <StateWord {...stateOf(row)} /> },
  { title: 'When', className: 'wide-only', cell: ({ created_at }) => <When at={created_at} /> },
  {
    title: 'Amount',
    className: 'num',
    cell: ({ amount_pusd, refunded_pusd, unit }) => (
      <>
        {balanceShort(BigInt(amount_pusd), unit)}
        {refunded_pusd !== '0' && (
          <span className="tiny reason">
            {balanceShort(BigInt(refunded_pusd), unit)} given back
          </span>
        )}
      </>
    ),
  },
]

type Doing = { readonly what: 'cancel' | 'refund'; readonly topup: Topup }

const buttons = (setDoing: (doing: Doing) => void): Column<Topup> =>
  actions((topup) => (
    <>
      {isOpen(topup) && (
        <button
          type="button"
          className="btn small"
          onClick={() => setDoing({ what: 'cancel', topup })}
        >
          Cancel
        </button>
      )}
      {isRefundable(topup) && (
        <button
          type="button"
          className="btn small"
          onClick={() => setDoing({ what: 'refund', topup })}
        >
          Refund
        </button>
      )}
    </>
  ))

export function Payments() {
  const query = useInfiniteQuery({
    ...readPages('GET /v1/topups', {}),
    // The processor tells of a payment a moment later.
    refetchInterval: ({ state }) =>
      rowsOf(state.data).some(({ status }) => status === 'created') ? UNDER_WAY_MS : SHOWN_MS,
  })
  const rows = rowsOf(query.data)
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  return (
    <Loaded query={query} what="the list of payments">
      {() =>
        rows.length === 0 ? (
          <p className="small">No payment yet.</p>
        ) : (
          <>
            <Table rows={rows} keyOf={({ id }) => id} columns={[...COLUMNS, buttons(setDoing)]} />
            <MoreRows query={query} label="Older payments" />
            {doing?.what === 'cancel' && <CancelPayment topup={doing.topup} onClose={stop} />}
            {doing?.what === 'refund' && <RefundPayment topup={doing.topup} onClose={stop} />}
          </>
        )
      }
    </Loaded>
  )
}
