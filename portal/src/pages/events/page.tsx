// The events of the account, the newest first: what webhooks tell receivers, whether there is one or not.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import type { ReplyOf } from '#console/client/operations.ts'
import { readPages, rowsOf } from '#console/client/queries.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import './events.css'

type Event = ReplyOf<'GET /v1/events'>['data'][number]

export function Page() {
  const query = useInfiniteQuery(readPages('GET /v1/events', { query: { order: 'newest' } }))
  const rows = rowsOf(query.data)
  return (
    <>
      <Head title="Events" />
      <Loaded query={query} what="the list of events">
        {() =>
          rows.length === 0 ? (
            <Empty
              title="No events yet"
              command="ergon webhook listen --forward-to localhost:3000/events"
            >
              An event says that something happened here: money came, a budget is used up, a
              deployment is done. Webhooks tell a service of yours.
            </Empty>
          ) : (
            <div className="stack">
              <p className="small">
                <Link to="/webhooks">Webhooks</Link> tell a service of yours those that it asks for.
              </p>
              <EventTable rows={rows} />
              <div className="tools">
                <MoreRows query={query} label="Older events" />
              </div>
            </div>
          )
        }
      </Loaded>
    </>
  )
}

/** The open one is in the address. */
function EventTable({ rows }: { readonly rows: readonly Event[] }) {
  const { event: opened } = useSearch({ strict: false }) as { readonly event?: string }
  const router = useRouter()
  const isOpen = ({ event_id }: Event) => event_id === opened
  const open = (event: string) =>
    void router.navigate({
      to: '/events',
      search: { event } as never,
      replace: true,
      resetScroll: false,
    })
  const name: Column<Event> = {
    title: 'Event',
    cell: (one) => (
      <>
        <button
          type="button"
          className="linked"
          aria-expanded={isOpen(one)}
          onClick={() => open(isOpen(one) ? '' : one.event_id)}
        >
          {one.event}
        </button>
        <span className="under">
          <When at={one.occurred_at} isExact />
        </span>
      </>
    ),
  }
  return (
    <Table
      rows={rows}
      keyOf={({ event_id }) => event_id}
      columns={[name, ...FACTS]}
      isSelected={isOpen}
      below={(one) =>
        isOpen(one) ? (
          <div className="event-text">
            <Command label="Event" text={textOf(one)} />
          </div>
        ) : undefined
      }
    />
  )
}

/** As a receiver gets it. */
const textOf = (one: Event): string => JSON.stringify(one, null, 2)

/** The account and the number are beside it. */
const BESIDE = ['account_id', 'sequence']

/** balance_pusd: 2499999999999, … */
const wordsOf = ({ data }: Event): string =>
  Object.entries(data)
    .filter(([name]) => !BESIDE.includes(name))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

const FACTS: readonly Column<Event>[] = [
  {
    title: 'Data',
    className: 'wide-only wrap-anywhere',
    cell: (one) => <span className="id">{wordsOf(one)}</span>,
  },
  { title: 'Number', className: 'num', cell: ({ data }) => data.sequence },
  {
    title: <TimeHead />,
    className: 'wide-only',
    cell: ({ occurred_at }) => <When at={occurred_at} inColumn />,
  },
]
