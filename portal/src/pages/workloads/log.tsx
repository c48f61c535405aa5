// The newest lines of the log of a workload.
import { useState } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { Log } from '#console/parts/resources/log.tsx'
import type { Column } from '#console/parts/page/table.tsx'
import { useLog } from './use-workloads.ts'
import type { Workload } from './workload.ts'

type Line = ReplyOf<'GET /v1/workloads/:workload/logs'>['data'][number]

const COLUMNS: readonly Column<Line>[] = [
  { title: 'Version', className: 'num wide-only', cell: ({ version }) => version },
  { title: 'From', className: 'wide-only', cell: ({ stream }) => stream },
]

export function WorkloadLog({ one }: { readonly one: Workload }) {
  const [isFollowed, setFollowed] = useState(true)
  return (
    <Log<Line>
      query={useLog(one, isFollowed)}
      isFollowed={isFollowed}
      onFollow={setFollowed}
      columns={COLUMNS}
      nothing="what it writes to stdout and stderr comes here"
    />
  )
}
