// The payments of the account, the newest first.
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReplyOf } from '../../client/operations.ts'
import { readPages, rowsOf } from '../../client/queries.ts'
import { balanceShort } from '../../figures/money.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { MoreRows } from '../../parts/more-rows.tsx'
import { StateWord, type Tone } from '../../parts/state-word.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'

type Topup = ReplyOf<'GET /v1/topups'>['data'][number]

const STATES: Readonly<Record<string, readonly [Tone, string]>> = {
  created: ['muted', 'under way'],
  requires_action: ['warn', 'waits for you'],
  authorized: ['ok', 'held'],
  captured: ['ok', 'paid'],
  voided: ['muted', 'canceled'],
  expired: ['muted', 'ended'],
  failed: ['bad', 'failed'],
  disputed: ['bad', 'disputed'],
}
/** A hold that ends was held; a payment that is canceled never had the money. */
const stateOf = ({ kind, status }: Topup): readonly [Tone, string] =>
  kind === 'hold' && status === 'voided'
    ? ['muted', 'given back']
    : (STATES[status] ?? ['muted', status])
const KINDS = { hold: 'Hold', topup: 'Top-up', automatic: 'Automatic top-up' }

const COLUMNS: readonly Column<Topup>[] = [
  {
    title: 'What',
    cell: ({ kind, processor, reason, created_at }) => (
      <>
        {KINDS[kind]} <span className="muted">{processor}</span>
        {reason !== null && <span className="bad"> {reason}</span>}
        <span className="under">
          <When at={created_at} />
        </span>
      </>
    ),
  },
  {
    title: 'State',
    cell: (row) => {
      const [tone, word] = stateOf(row)
      return <StateWord tone={tone} word={word} />
    },
  },
  { title: 'When', className: 'wide-only', cell: ({ created_at }) => <When at={created_at} /> },
  {
    title: 'Amount',
    className: 'num',
    cell: ({ amount_pusd, unit }) => balanceShort(BigInt(amount_pusd), unit),
  },
]

export function Payments() {
  const query = useInfiniteQuery(readPages('GET /v1/topups', {}))
  const rows = rowsOf(query.data)
  return (
    <Loaded query={query} what="the list of payments">
      {() =>
        rows.length === 0 ? (
          <p className="small">No payment yet.</p>
        ) : (
          <>
            <Table rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
            <MoreRows query={query} label="Older payments" />
          </>
        )
      }
    </Loaded>
  )
}
