// The last lines of the log of the node, by level and subsystem. Text, never HTML.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { Select } from '#console/parts/forms/choices.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'

const REFRESH_MS = 10_000
const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Line = NonNullable<ReplyOf<'GET /v1/operator/log'>['lines']>[number]
type Level = (typeof LEVELS)[number]
const LEVEL_OPTIONS = LEVELS.map((level) => [level, level] as const)
const TONES: Readonly<Record<Level, Tone>> = {
  debug: 'muted',
  info: 'muted',
  warn: 'warn',
  error: 'bad',
}

const COLUMNS: readonly Column<Line>[] = [
  { title: <TimeHead />, cell: ({ time }) => <When at={time} inColumn /> },
  { title: 'Level', cell: ({ level }) => <StateWord tone={TONES[level]} word={level} /> },
  {
    title: 'Line',
    className: 'wrap-anywhere',
    cell: ({ subsystem, message, fields }) => (
      <>
        <b>{subsystem}</b> {message}
        {fields !== '' && <span className="tiny id">{fields}</span>}
      </>
    ),
  },
]

export function Log() {
  const [level, setLevel] = useState<Level>('info')
  const [subsystem, setSubsystem] = useState('')
  const query = useQuery({
    ...read('GET /v1/operator/log', {
      query: { level, ...(subsystem !== '' && { subsystem }) },
    }),
    refetchInterval: REFRESH_MS,
  })
  const all = query.data?.subsystems ?? []
  const shown = subsystem === '' || all.includes(subsystem) ? all : [...all, subsystem]
  return (
    <Section title="Log" aside="the last 500 lines that the agent keeps">
      <div className="tools">
        <Select label="Level and above" value={level} options={LEVEL_OPTIONS} onChange={setLevel} />
        <Select
          label="Subsystem"
          value={subsystem}
          options={[['', 'all'], ...shown.map((name) => [name, name] as const)]}
          onChange={setSubsystem}
        />
      </div>
      <Loaded query={query} what="the log">
        {({ lines }) => <Lines lines={lines} />}
      </Loaded>
    </Section>
  )
}

function Lines({ lines }: { readonly lines: readonly Line[] | null }) {
  if (lines === null) return <p className="small">The agent does not answer.</p>
  if (lines.length === 0)
    return (
      <p className="small">
        No line of this kind. The node logs from the level that ERGON_LOG_LEVEL names.
      </p>
    )
  const rows = lines.map((line, place) => ({ ...line, key: `${place} ${line.time}` }))
  return <Table rows={rows.toReversed()} keyOf={({ key }) => key} columns={COLUMNS} />
}
