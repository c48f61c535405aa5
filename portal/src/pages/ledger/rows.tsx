// The table of the ledger. Only rows in view are drawn, so ten thousand scroll as ten do.
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { energyExact } from '#console/figures/energy.ts'
import { balanceExact, moneyExact, moneyShort } from '#console/figures/money.ts'
import { KnownMark } from '#console/parts/known.tsx'
import { Exact } from '#console/parts/register.tsx'
import { SmallSeal } from '#console/parts/seal.tsx'
import { operationName } from '#console/parts/services.ts'
import { When } from '#console/parts/when.tsx'
import { useZone } from '#console/parts/zone.ts'
import type { BalancedRow } from '#console/parts/ledger-row.ts'
import { useUnit } from '#console/live/use-unit.ts'

const ROW_PX = 39
const ROW_PHONE_PX = 52
const OVERSCAN = 12
/** The next page is asked for when so few read rows are below. */
const AHEAD = 40

export function Rows(props: {
  readonly rows: readonly BalancedRow[]
  readonly opened: string | undefined
  readonly total: number
  readonly more: (() => void) | undefined
}) {
  const { rows, opened, total, more } = props
  const zone = useZone()
  const body = useRef<HTMLTableSectionElement>(null)
  const virtual = useRowWindow(rows.length, body)
  const shown = virtual.getVirtualItems()
  const [first, last] = [shown[0], shown.at(-1)]
  const isNearEnd = last !== undefined && last.index >= rows.length - AHEAD
  useEffect(() => {
    if (isNearEnd) more?.()
  }, [isNearEnd, rows.length, more])
  const above = first === undefined ? 0 : first.start - virtual.options.scrollMargin
  const below =
    last === undefined ? 0 : virtual.getTotalSize() - (last.end - virtual.options.scrollMargin)
  return (
    <table className="entries" aria-rowcount={Math.max(total, rows.length) + 1}>
      <thead>
        <tr>
          <th className="c-seal wide-only">
            <span className="spoken">Seal</span>
          </th>
          <th className="c-time wide-only">{zone === 'UTC' ? 'UTC' : 'Local time'}</th>
          <th>What</th>
          <th className="c-joules num">Joules</th>
          <th className="c-known wide-only">
            <span className="spoken">Known by</span>
          </th>
          <th className="c-money num wide-only">Money</th>
          <th className="c-balance num wide-only">Balance after</th>
        </tr>
      </thead>
      <tbody ref={body}>
        <Gap px={above} />
        {shown.map(({ index }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <EntryRow key={row.id} row={row} index={index} isOpened={row.id === opened} />
          )
        })}
        <Gap px={below} />
      </tbody>
    </table>
  )
}

function useRowWindow(count: number, body: React.RefObject<HTMLElement | null>) {
  const [scrollMargin, setMargin] = useState(0)
  const [rowPx] = useState(() => (matchMedia('(max-width: 760px)').matches ? ROW_PHONE_PX : ROW_PX))
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [body])
  return useWindowVirtualizer({
    count,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollMargin,
  })
}

/** Stands for rows out of view. */
const Gap = ({ px }: { readonly px: number }) =>
  px <= 0 ? null : <tr aria-hidden="true" style={{ height: px }} />

type EntryProps = { readonly row: BalancedRow; readonly index: number; readonly isOpened: boolean }

/** A row that stays in view is not drawn anew while others come. */
const EntryRow = memo(function EntryRow({ row, index, isOpened }: EntryProps) {
  const { nj, how, amount, after } = row
  const unit = useUnit()
  return (
    <tr aria-rowindex={index + 2} aria-selected={isOpened} data-row>
      <td className="c-seal wide-only">
        {row.kind === 'charge' && <SmallSeal hash={row.leafHash} />}
      </td>
      <td className="wide-only">
        <When at={row.at} isExact />
      </td>
      <td className="what">
        <What row={row} />
        <span className="under">
          <When at={row.at} isExact /> · {moneyShort(-amount, unit)}
          {how !== null && ` · ${how.known}`}
        </span>
      </td>
      <td className="num" {...(nj !== null && { 'data-copy': energyExact(nj) })}>
        {nj !== null && (
          <Exact figure={{ nj, ...(how ?? { known: 'modelled', bandPct: undefined }) }} />
        )}
      </td>
      <td className="wide-only">{how !== null && <KnownMark figure={how} />}</td>
      <td className="num wide-only" title={moneyExact(-amount, unit)}>
        {row.kind === 'charge' ? moneyShort(-amount, unit) : moneyShort(amount, unit)}
      </td>
      <td className="num wide-only">
        {after !== undefined && balanceExact(after, 'tUSD').slice(0, -5)}
      </td>
    </tr>
  )
})

const KINDS: Readonly<Record<string, string>> = {
  topup: 'top-up',
  hold: 'hold',
  test_funds: 'test money',
  taken_back: 'taken back',
  refund_returned: 'refund returned',
  dispute_won: 'dispute won',
}

const What = ({ row }: { readonly row: BalancedRow }) =>
  row.kind === 'charge' ? (
    <Link to={`/ledger/${row.id}`} search={(search: object) => search as never}>
      {operationName(row.operation ?? '')} <span className="muted">{row.subject}</span>
    </Link>
  ) : (
    <>
      <b>{KINDS[row.kind] ?? row.kind}</b> <span className="muted">{row.subject}</span>
    </>
  )
