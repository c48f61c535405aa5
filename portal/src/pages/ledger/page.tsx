// The ledger: each charge with its receipt, and what was left after it.
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { firstCommand } from '#console/chat/first-question.ts'
import { grouped } from '#console/figures/digits.ts'
import { energyExact, registerDigits } from '#console/figures/energy.ts'
import { moneyExact } from '#console/figures/money.ts'
import { useToday } from '#console/live/use-today.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Head } from '#console/shell/head.tsx'
import { isTyping } from '#console/parts/browser/typing.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { FilterBar } from './filters.tsx'
import { Receipt } from './receipt.tsx'
import { Rows } from './rows.tsx'
import { useFilters, useLedger } from './use-ledger.ts'
import './ledger.css'

export function Page() {
  const { receipt } = useParams({ strict: false }) as { readonly receipt?: string }
  const { filters } = useFilters()
  const ledger = useLedger(filters)
  const { rows, sums, missed, waiting, query } = ledger
  return (
    <>
      <Head title="Ledger" />
      <div className={receipt === undefined ? 'ledger' : 'ledger opened'}>
        <section className="list" aria-label="Entries">
          <FilterBar />
          <Loaded query={query} what="the ledger">
            {() => (
              <>
                <p className={waiting === 0 ? 'small sums' : 'small sums waiting'}>
                  <Sums filters={filters} sums={sums} />
                  {missed + waiting > 0 && (
                    <button
                      type="button"
                      className="btn small"
                      onClick={() => {
                        window.scrollTo(0, 0)
                        if (missed > 0) void query.refetch()
                      }}
                    >
                      {grouped(BigInt(missed + waiting))} new
                    </button>
                  )}
                </p>
                {rows.length === 0 ? (
                  <NoRows isFiltered={filters.id !== undefined || filters.service !== undefined} />
                ) : (
                  <Rows
                    rows={rows}
                    opened={receipt}
                    total={sums?.entries ?? rows.length}
                    more={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
                  />
                )}
              </>
            )}
          </Loaded>
        </section>
        {receipt !== undefined && (
          <aside className="side">
            <Close filters={filters} />
            <Receipt key={receipt} id={receipt} />
          </aside>
        )}
      </div>
    </>
  )
}

/** Esc closes the receipt too. */
function Close({ filters }: Pick<SumsProps, 'filters'>) {
  const navigate = useNavigate()
  useEffect(() => {
    const act = ({ key, target }: KeyboardEvent) => {
      const isElsewhere = document.querySelector('dialog[open]') !== null || isTyping(target)
      if (key === 'Escape' && !isElsewhere)
        void navigate({ to: '/ledger', search: filters as never })
    }
    document.addEventListener('keydown', act)
    return () => document.removeEventListener('keydown', act)
  }, [navigate, filters])
  return (
    <p className="sheet-bar">
      <Link to="/ledger" search={filters as never}>
        Close the receipt
      </Link>
    </p>
  )
}

type SumsProps = {
  readonly filters: ReturnType<typeof useFilters>['filters']
  readonly sums: ReturnType<typeof useLedger>['sums']
}

/** Of today the figures are the live ones, the same as on the overview. */
function Sums({ filters, sums }: SumsProps) {
  const today = useToday()
  const unit = useUnit()
  const isToday =
    filters.id === undefined && filters.service === undefined && filters.since === undefined
  if (isToday && today !== undefined) {
    const { nj } = today.figure
    return (
      <span data-copy={energyExact(nj)}>
        <b>{grouped(BigInt(today.requests))}</b> {today.requests === 1 ? 'charge' : 'charges'}{' '}
        today, <b>{registerDigits(nj)} J</b>, <b>{moneyExact(today.pusd, unit)}</b>
      </span>
    )
  }
  if (sums === undefined) return <span />
  const nj = BigInt(sums.energy_nj)
  return (
    <span data-copy={energyExact(nj)}>
      <b>{grouped(BigInt(sums.entries))}</b> {sums.entries === 1 ? 'entry' : 'entries'},{' '}
      <b>{registerDigits(nj)} J</b>, <b>{moneyExact(BigInt(sums.out_pusd), unit)}</b> out,{' '}
      <b>{moneyExact(BigInt(sums.in_pusd), unit)}</b> in
    </span>
  )
}

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  const command = firstCommand()
  if (isFiltered) return <p className="small">No entry fits these filters.</p>
  return (
    <Empty title="Nothing was charged today" command={command}>
      Each request stands here within a second, with the receipt that proves what it cost.
    </Empty>
  )
}
