// The balance by origin, in the order in which it is spent.
import { balanceExact } from '#console/figures/money.ts'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { WhenOrNever } from '#console/parts/time/when.tsx'
import type { Balance } from './left.tsx'

const KINDS = { funds: 'Funds', test: 'Test money', points: 'Points', promotion: 'Promotion' }

type Lot = Balance['lots'][number]

export function Lots({ balance: { lots, unit } }: { readonly balance: Balance }) {
  if (lots.length === 0) return <p className="small">Nothing is on file.</p>
  const left: Column<Lot> = {
    title: 'Left',
    className: 'num',
    cell: ({ remaining_pusd }) => balanceExact(BigInt(remaining_pusd), unit),
  }
  return (
    <Table rows={lots} keyOf={(lot) => String(lots.indexOf(lot))} columns={[...COLUMNS, left]} />
  )
}

const COLUMNS: readonly Column<Lot>[] = [
  {
    title: 'In this order',
    cell: ({ kind, expires_at }) => (
      <>
        {KINDS[kind]}
        <span className="under">
          ends <WhenOrNever at={expires_at} />
        </span>
      </>
    ),
  },
  {
    title: 'Ends',
    className: 'wide-only',
    cell: ({ expires_at }) => <WhenOrNever at={expires_at} />,
  },
]
