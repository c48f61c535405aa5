// The rows of a query, as text. Only those in view are drawn.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'

export type QueryResult = ReplyOf<'POST /v1/databases/:database/query'>

const ROW_PX = 37
const OVERSCAN = 10

export function QueryRows({ result }: { readonly result: QueryResult }) {
  const { columns, rows } = result
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  })
  if (columns.length === 0) return null
  const shown = virtual.getVirtualItems()
  const above = shown[0]?.start ?? 0
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    // A part of a page that scrolls can be reached by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={box} className="found" tabIndex={0} role="region" aria-label="Rows">
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ name, type }, place) => (
              <th key={place} scope="col" title={type}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap px={above} />
          {shown.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2}>
              {rows[index]?.map((value, place) => (
                <td key={place} title={value ?? undefined}>
                  {value ?? <span className="muted">null</span>}
                </td>
              ))}
            </tr>
          ))}
          <Gap px={below} />
        </tbody>
      </table>
    </div>
  )
}

const Gap = ({ px }: { readonly px: number }) =>
  px <= 0 ? null : <tr aria-hidden="true" style={{ height: px }} />
