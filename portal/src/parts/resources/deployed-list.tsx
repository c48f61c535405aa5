// The list of what is deployed by a command, with the command that deploys more.
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Command } from '#console/parts/page/copy.tsx'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'

export function DeployedList<Row extends { readonly id: string }>(props: {
  readonly query: UseQueryResult<{ readonly data: readonly Row[] }>
  /** In the plural. */
  readonly kind: string
  readonly columns: readonly Column<Row>[]
  /** The commands from nothing to the first. */
  readonly first: string
  readonly command: string
  /** The label of the command, below the list. */
  readonly label: string
  /** What they are, where there is none yet. */
  readonly children: ReactNode
}) {
  const { query, kind, columns, first, command, label, children } = props
  return (
    <Loaded query={query} what={`the list of ${kind}`}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={`No ${kind} yet`} command={first}>
            {children}
          </Empty>
        ) : (
          <div className="stack wide">
            <Table rows={data} keyOf={({ id }) => id} columns={columns} />
            <Command label={label} text={command} />
          </div>
        )
      }
    </Loaded>
  )
}
