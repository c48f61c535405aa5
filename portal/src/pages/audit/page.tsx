// The audit log: who did what, the newest first. The filters are in the address.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { readPages, rowsOf } from '#console/client/queries.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import './audit.css'

type Entry = ReplyOf<'GET /v1/audit'>['data'][number]
type Search = { readonly action?: string; readonly target?: string }

export function Page() {
  const { action, target } = useSearch({ strict: false }) as Search
  const query = useInfiniteQuery(readPages('GET /v1/audit', { query: { action, target } }))
  const rows = rowsOf(query.data)
  return (
    <>
      <Head title="Audit log" />
      <div className="stack">
        <Filters key={`${action} ${target}`} action={action} target={target} />
        <Loaded query={query} what="the audit log">
          {() =>
            rows.length === 0 ? (
              <p className="small">No change fits these filters.</p>
            ) : (
              <Table rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
            )
          }
        </Loaded>
        <div className="tools">
          <MoreRows query={query} label="Older changes" />
        </div>
      </div>
    </>
  )
}

type FiltersProps = { readonly action: string | undefined; readonly target: string | undefined }

function Filters({ action, target }: FiltersProps) {
  const router = useRouter()
  const field = (name: string, label: string, value: string | undefined) => (
    <input
      className="field slim"
      type="search"
      name={name}
      aria-label={label}
      placeholder={label}
      defaultValue={value ?? ''}
    />
  )
  return (
    <form
      className="tools"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const textOf = (name: string) => String(form.get(name)).trim()
        const search = { action: textOf('action'), target: textOf('target') }
        void router.navigate({ to: '/audit', search: search as never })
      }}
    >
      {field('action', 'Action, such as token.create', action)}
      {field('target', 'Id of what was changed', target)}
      <button type="submit" className="btn small">
        Find
      </button>
    </form>
  )
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    title: 'What',
    className: 'acted-on wrap-anywhere',
    cell: ({ action, target, actor, at }) => (
      <>
        <Link to="/audit" search={{ action } as never}>
          <b>{action}</b>
        </Link>{' '}
        <Link to="/audit" search={{ target } as never} className="id">
          {target}
        </Link>
        <span className="under">
          <When at={at} isExact /> · <Who actor={actor} />
        </span>
      </>
    ),
  },
  {
    title: 'Who',
    className: 'who wide-only wrap-anywhere',
    cell: ({ actor }) => <Who actor={actor} />,
  },
  {
    title: 'Details',
    className: 'wide-only wrap-anywhere',
    cell: ({ details }) => <span className="id">{wordsOf(details)}</span>,
  },
  {
    title: <TimeHead />,
    className: 'wide-only',
    cell: ({ request_id, at }) =>
      request_id === null ? (
        <When at={at} inColumn />
      ) : (
        <Link to="/ledger" search={{ id: request_id } as never}>
          <When at={at} inColumn />
        </Link>
      ),
  },
]

function Who({ actor }: Pick<Entry, 'actor'>) {
  return (
    <>
      {NAMELESS[actor.type] ?? actor.member?.name ?? actor.name}
      {actor.member !== null && actor.name !== null && (
        <span className="tiny"> by {actor.name}</span>
      )}
    </>
  )
}

const NAMELESS: Partial<Record<Entry['actor']['type'], string>> = {
  operator: 'the operator',
  system: 'automatic',
}

/** scope: deploy, name: ci */
const wordsOf = (details: Entry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
