// The newest lines of the log of a function, each with the request that wrote it.
import { useState } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { Log } from '#console/parts/resources/log.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import type { Column } from '#console/parts/page/table.tsx'
import type { Deployed } from './function.ts'
import { useLog } from './use-functions.ts'

type Line = ReplyOf<'GET /v1/functions/:function/logs'>['data'][number]

const TONES: Readonly<Record<Line['level'], Tone>> = {
  debug: 'muted',
  info: 'muted',
  warn: 'warn',
  error: 'bad',
}
const LEVEL: Column<Line> = {
  title: 'Level',
  className: 'wide-only',
  cell: ({ level }) => <StateWord tone={TONES[level]} word={level} />,
}

export function FunctionLog({ one }: { readonly one: Deployed }) {
  const [isFollowed, setFollowed] = useState(true)
  return (
    <Log<Line>
      query={useLog(one, isFollowed)}
      isFollowed={isFollowed}
      onFollow={setFollowed}
      columns={[LEVEL]}
      below={({ request_id }) => request_id}
      nothing="what it writes by console comes here"
    />
  )
}
