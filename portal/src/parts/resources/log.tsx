// The newest lines of a log: searched and followed. Text, never HTML.
import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { Field } from '#console/parts/forms/field.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'

type Line = { readonly at: string; readonly text: string }

/** Lines that one read of a log asks for. */
export const LOG_LINES = '200'

export function Log<Row extends Line>(props: {
  /** The newest lines, the oldest of them first; read again while `isFollowed`. */
  readonly query: UseQueryResult<{ readonly data: readonly Row[] }>
  readonly isFollowed: boolean
  readonly onFollow: (isFollowed: boolean) => void
  /** Between the time and the text. */
  readonly columns: readonly Column<Row>[]
  /** What stands below the text, and is sought too. */
  readonly below?: (line: Row) => string | null
  readonly nothing: string
}) {
  const { query, isFollowed, onFollow, columns, below, nothing } = props
  const [sought, setSought] = useState('')
  const isSought = (line: Row) =>
    `${line.text} ${below?.(line) ?? ''}`.toLowerCase().includes(sought.trim().toLowerCase())
  return (
    <Section title="Log" aside={`the newest ${LOG_LINES} lines`}>
      <div className="stack">
        <div className="tools">
          <Field
            label="Search"
            name="search"
            value={sought}
            onChange={({ target }) => setSought(target.value)}
          />
          <button
            type="button"
            className="btn"
            aria-pressed={isFollowed}
            onClick={() => onFollow(!isFollowed)}
          >
            {isFollowed ? 'Stop following' : 'Follow'}
          </button>
        </div>
        <Loaded query={query} what="the log">
          {({ data }) => {
            const rows = data
              .filter(isSought)
              .map((line, place) => ({ ...line, key: `${line.at} ${place}` }))
            return rows.length === 0 ? (
              <p className="small">No line: {nothing}.</p>
            ) : (
              <Table
                rows={rows.toReversed()}
                keyOf={({ key }) => key}
                columns={[WHEN, ...columns, textOf(below)]}
              />
            )
          }}
        </Loaded>
      </div>
    </Section>
  )
}

const WHEN: Column<Line> = { title: <TimeHead />, cell: ({ at }) => <When at={at} inColumn /> }

const textOf = <Row extends Line>(below?: (line: Row) => string | null): Column<Row> => ({
  title: 'Line',
  className: 'wrap-anywhere',
  cell: (line) => {
    const more = below?.(line) ?? null
    return (
      <>
        {line.text}
        {more !== null && <div className="tiny id">{more}</div>}
      </>
    )
  },
})
