// A row of the ledger. Rows come into view five in each frame of a fast scroll: a row has no hook of its own.
import { memo, type MouseEventHandler } from 'react'
import { energyExact } from '#console/figures/energy.ts'
import { balanceExact, moneyExact, moneyShort, type MoneyUnit } from '#console/figures/money.ts'
import { KnownMark } from '#console/parts/energy/known.tsx'
import type { BalancedRow } from '#console/parts/ledger/ledger-row.ts'
import { Exact } from '#console/parts/energy/register.tsx'
import { SmallSeal } from '#console/parts/ledger/seal.tsx'
import { operationName } from '#console/parts/charts/services.ts'
import { Time, type Times } from '#console/parts/time/when.tsx'

type EntryProps = {
  readonly row: BalancedRow
  readonly subject: string | null
  readonly index: number
  readonly isOpened: boolean
  /** The search of the page's address: the page of the receipt keeps it. */
  readonly search: string
  readonly times: Times
  readonly unit: MoneyUnit
  /** A phone has two cells, the rest below the name. */
  readonly isNarrow: boolean
  readonly open: MouseEventHandler<HTMLAnchorElement>
}

/** A row that stays in view is not drawn anew while others come. */
export const EntryRow = memo(function EntryRow(props: EntryProps) {
  const { row, index, isOpened, times, unit, isNarrow } = props
  const { nj, how, after } = row
  // A charge is told by what it took, all else by what it gave.
  const money = row.kind === 'charge' ? -row.amount : row.amount
  const joules = (
    <td className="num" {...(nj !== null && { 'data-copy': energyExact(nj) })}>
      {nj !== null && (
        <Exact figure={{ nj, ...(how ?? { known: 'modelled', bandPct: undefined }) }} />
      )}
    </td>
  )
  const place = { 'aria-rowindex': index + 2, 'aria-selected': isOpened, 'data-row': true }
  if (isNarrow)
    return (
      <tr {...place}>
        <td className="what">
          <What {...props} />
          <span className="under">
            <Time at={row.at} isExact times={times} /> · {moneyShort(money, unit)}
            {how !== null && ` · ${how.known}`}
          </span>
        </td>
        {joules}
      </tr>
    )
  return (
    <tr {...place}>
      <td className="c-seal">{row.kind === 'charge' && <SmallSeal hash={row.leafHash} />}</td>
      <td>
        <Time at={row.at} inColumn times={times} />
      </td>
      <td className="what">
        <What {...props} />
      </td>
      {joules}
      <td>{how !== null && <KnownMark figure={how} />}</td>
      <td className="num" title={moneyExact(money, unit)}>
        {moneyShort(money, unit)}
      </td>
      <td className="num">{after !== undefined && balanceExact(after, 'tUSD').slice(0, -5)}</td>
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

type WhatProps = Pick<EntryProps, 'row' | 'subject' | 'search' | 'open'>

const What = ({ row, subject, search, open }: WhatProps) =>
  row.kind === 'charge' ? (
    <a href={`/ledger/${row.id}${search}`} onClick={open}>
      {operationName(row.operation ?? '')} <span className="muted">{subject}</span>
    </a>
  ) : (
    <>
      <b>{KINDS[row.kind] ?? row.kind}</b> <span className="muted">{subject}</span>
    </>
  )
