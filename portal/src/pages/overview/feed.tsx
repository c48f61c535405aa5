// The newest charges, each a link to its receipt.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { firstCommand } from '#console/chat/first-question.ts'
import { call } from '#console/client/call.ts'
import { energyShort } from '#console/figures/energy.ts'
import { minuteTime } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { useMissed } from '#console/live/use-missed.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { SmallSeal } from '#console/parts/ledger/seal.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { operationName } from '#console/parts/charts/services.ts'
import {
  folded,
  isFolded,
  readsWords,
  type Reads as ReadsRow,
} from '#console/parts/ledger/folded.ts'
import { joined, rowOfCharge, subjectOf, type Row } from '#console/parts/ledger/ledger-row.ts'
import { useNow, useZone } from '#console/parts/time/zone.ts'
import { newestCharges } from './newest-charges.ts'

const SHOWN = 7
const PAGE = '50'
const NEWEST = queryOptions({
  queryKey: ['GET /v1/ledger', 'feed'],
  queryFn: ({ signal }) =>
    newestCharges(
      (cursor) =>
        call('GET /v1/ledger', {
          query: { kind: 'charge', limit: PAGE, ...(cursor !== undefined && { cursor }) },
          signal,
        }),
      SHOWN - 1,
    ),
})

export function Feed() {
  const known = useQuery(NEWEST)
  const live = useLive(({ charges }) => charges)
  const isPart = useMissed(known.data) > 0
  const resources = useLive((state) => state.resources)
  const named = (row: Row): Row => ({ ...row, subject: subjectOf(row, resources) })
  return (
    <Section title="What requests cost" aside={<Link to="/ledger">all</Link>}>
      <Loaded query={known} what="the ledger">
        {(newest) => {
          const rows = folded(joined(live.map(rowOfCharge), newest), SHOWN)
          return rows.length === 0 ? (
            <FirstRequest />
          ) : (
            <ul className="feed">
              {rows.map((row) => (
                <li key={row.id} data-row>
                  {isFolded(row) ? <Reads row={row} isPart={isPart} /> : <One row={named(row)} />}
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Section>
  )
}

const One = ({ row }: { readonly row: Row }) => (
  <Link to={`/ledger/${row.id}`}>
    <SmallSeal hash={row.leafHash} />
    <span>
      {operationName(row.operation ?? '')} <span className="muted">{row.subject}</span>
    </span>
    <b>{energyShort(row.nj ?? 0n)}</b>
  </Link>
)

/** `isPart`: there were charges that neither the ledger's answer nor the stream named. */
function Reads(props: { readonly row: ReadsRow; readonly isPart: boolean }) {
  const { count, nj, since } = props.row
  const zone = useZone()
  const now = useNow('minute')
  return (
    <Link to="/ledger">
      <span />
      <span className="whole">
        {readsWords(count, props.isPart)} by pages and programs{' '}
        <span className="muted">since {minuteTime(new Date(since), zone, now)}</span>
      </span>
      <b>{energyShort(nj)}</b>
    </Link>
  )
}

function FirstRequest() {
  const command = firstCommand()
  return (
    <div className="empty">
      <p className="small">
        Nothing was charged yet. <Link to="/playground">Ask a model something</Link>, or from a
        terminal:
      </p>
      <Command text={command} label="Command" />
    </div>
  )
}
