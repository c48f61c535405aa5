// The audit log: who did what, the newest first. The filters are in the address.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { readPages, rowsOf } from '../../client/queries.ts'
import type { ReplyOf } from '../../client/operations.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { MoreRows } from '../../parts/more-rows.tsx'
import { When } from '../../parts/when.tsx'
import { useZone } from '../../parts/zone.ts'
import { Head } from '../../shell/head.tsx'

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
              <Table rows={rows} />
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

function Table({ rows }: { readonly rows: readonly Entry[] }) {
  const zone = useZone()
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Who</th>
          <th scope="col" className="wide-only">
            Details
          </th>
          <th scope="col" className="wide-only">
            {zone === 'UTC' ? 'UTC' : 'Local time'}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ entry }: { readonly entry: Entry }) {
  const { action, target, at, details, request_id, actor } = entry
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <Link to="/audit" search={{ action } as never}>
          <b>{action}</b>
        </Link>{' '}
        <Link to="/audit" search={{ target } as never} className="id">
          {target}
        </Link>
        <span className="under">
          <When at={at} isExact />
        </span>
      </td>
      <td className="wrap-anywhere">
        {actor.type === 'operator' ? 'the operator' : (actor.member?.name ?? actor.name)}
        {actor.member !== null && actor.name !== null && (
          <span className="tiny"> by {actor.name}</span>
        )}
      </td>
      <td className="wide-only wrap-anywhere">
        <span className="id">{wordsOf(details)}</span>
      </td>
      <td className="wide-only">
        {request_id === null ? (
          <When at={at} isExact />
        ) : (
          <Link to="/ledger" search={{ id: request_id } as never}>
            <When at={at} isExact />
          </Link>
        )}
      </td>
    </tr>
  )
}

/** scope: deploy, name: ci */
const wordsOf = (details: Entry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
