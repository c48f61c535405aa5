// The table of a list: its columns are data. What a phone has no room for stands under the name there.
import type { ReactNode } from 'react'

export type Column<Row> = {
  readonly title: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** The class of the head and the cells: `num` is at the right, `wide-only` is not on a phone. */
  readonly className?: string
  /** The exact figure: shown on hover, and copied by `c`. */
  readonly exact?: (row: Row) => string | undefined
}

type Props<Row> = {
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly className?: string
  readonly rowClass?: (row: Row) => string | undefined
  readonly isSelected?: (row: Row) => boolean
  /** What a row opens into, as wide as the table. */
  readonly below?: (row: Row) => ReactNode
}

export const Table = <Row,>(props: Props<Row>) => (
  <table className={props.className}>
    <thead>
      <tr>
        {props.columns.map(({ title, className }, nth) => (
          <th key={nth} scope="col" className={className}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {props.rows.map((row) => (
        <TableRow key={props.keyOf(row)} {...props} row={row} />
      ))}
    </tbody>
  </table>
)

function TableRow<Row>({ row, columns, rowClass, isSelected, below }: Props<Row> & { row: Row }) {
  const opened = below?.(row)
  return (
    <>
      <tr data-row className={rowClass?.(row)} aria-selected={isSelected?.(row)}>
        {columns.map(({ cell, className, exact }, nth) => (
          <td key={nth} className={className} title={exact?.(row)} data-copy={exact?.(row)}>
            {cell(row)}
          </td>
        ))}
      </tr>
      {opened !== undefined && (
        <tr>
          <td colSpan={columns.length}>{opened}</td>
        </tr>
      )}
    </>
  )
}

/** The last column: buttons, without a title to see. */
export const actions = <Row,>(cell: (row: Row) => ReactNode): Column<Row> => ({
  title: <span className="spoken">Actions</span>,
  cell: (row) => <div className="tools">{cell(row)}</div>,
})
