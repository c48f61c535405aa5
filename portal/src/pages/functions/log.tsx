// The newest lines of the log of a function. Text, never HTML.
import { useState } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { Field } from '#console/parts/field.tsx'
import { Loaded } from '#console/parts/loaded.tsx'
import { Section } from '#console/parts/section.tsx'
import { StateWord, type Tone } from '#console/parts/state-word.tsx'
import { Table, type Column } from '#console/parts/table.tsx'
import { When } from '#console/parts/when.tsx'
import type { Deployed } from './function.ts'
import { useLog } from './use-functions.ts'

type Line = ReplyOf<'GET /v1/functions/:function/logs'>['data'][number]

const TONES: Readonly<Record<Line['level'], Tone>> = {
  debug: 'muted',
  info: 'muted',
  warn: 'warn',
  error: 'bad',
}

const COLUMNS: readonly Column<Line>[] = [
  { title: 'When', cell: ({ at }) => <When at={at} isExact /> },
  {
    title: 'Level',
    className: 'wide-only',
    cell: ({ level }) => <StateWord tone={TONES[level]} word={level} />,
  },
  {
    title: 'Line',
    className: 'wrap-anywhere',
    cell: ({ text, request_id: request }) => (
      <>
        {text}
        {request !== null && <span className="tiny id">{request}</span>}
      </>
    ),
  },
]

export function Log({ one }: { readonly one: Deployed }) {
  const [isFollowed, setFollowed] = useState(true)
  const [sought, setSought] = useState('')
  const query = useLog(one, isFollowed)
  return (
    <Section title="Log" aside="the newest 200 lines">
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
            onClick={() => setFollowed(!isFollowed)}
          >
            {isFollowed ? 'Stop following' : 'Follow'}
          </button>
        </div>
        <Loaded query={query} what="the log">
          {({ data }) => <Lines lines={data.filter((line) => isSought(line, sought))} />}
        </Loaded>
      </div>
    </Section>
  )
}

const isSought = ({ text, request_id: request }: Line, sought: string): boolean =>
  `${text} ${request ?? ''}`.toLowerCase().includes(sought.trim().toLowerCase())

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  if (lines.length === 0)
    return <p className="small">No line: what it writes by console comes here.</p>
  const rows = lines.map((line, place) => ({ ...line, key: `${line.at} ${place}` }))
  return <Table rows={rows.toReversed()} keyOf={({ key }) => key} columns={COLUMNS} />
}
