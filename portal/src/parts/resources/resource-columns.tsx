// Columns that the lists of resources share. What a phone has no room for stands under the name there.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ResourceState } from './resource-state.ts'
import { StateWord } from '#console/parts/page/state-word.tsx'
import type { Column } from '#console/parts/page/table.tsx'

type Listed = {
  readonly name: string
  readonly reason: string | null
  readonly energy_budget: string | null
}

export const NONE = <span className="muted">none</span>

/** The name leads to the page below `path`. */
export const nameColumn = <Row extends Listed>(given: {
  readonly title: string
  readonly path: string
  readonly stateOf: (row: Row) => ResourceState
  readonly under: (row: Row) => string
  readonly className?: string
}): Column<Row> => ({
  title: given.title,
  ...(given.className !== undefined && { className: given.className }),
  cell: (row) => (
    <>
      <Link to={`${given.path}/${row.name}`}>
        <b>{row.name}</b>
      </Link>
      <span className="under">
        {given.stateOf(row).word}, {given.under(row)}
      </span>
    </>
  ),
})

/** A column with the state, and its reason or other words below it. */
export const stateColumn = <Row extends Listed>(
  stateOf: (row: Row) => ResourceState,
  wordsOf: (row: Row) => string | null = ({ reason }) => reason,
): Column<Row> => ({
  title: 'State',
  className: 'wide-only',
  cell: (row) => {
    const words = wordsOf(row)
    return (
      <>
        <StateWord {...stateOf(row)} />
        {words !== null && <span className="tiny reason">{words}</span>}
      </>
    )
  },
})

export const BUDGET_COLUMN: Column<Listed> = {
  title: 'Budget a day',
  className: 'num wide-only',
  cell: ({ energy_budget }) => energy_budget ?? NONE,
}

export const todayColumn = <Row extends Listed>(cell: (row: Row) => ReactNode): Column<Row> => ({
  title: 'Joules today',
  className: 'num',
  cell,
})
