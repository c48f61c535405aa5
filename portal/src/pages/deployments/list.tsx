// All deployments, the newest first; the stack is in the address.
import { Link, useSearch } from '@tanstack/react-router'
import { rowsOf } from '#console/client/queries.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import { changesWords, STATES, type Listed } from './deployment.ts'
import { useDeployments } from './use-deployments.ts'

const DEPLOY = 'ergon deploy'
/** A whole description file: it is deployed as it stands. */
const FIRST = `cat > ergon.hcl <<'END'
bucket "pictures" {}
END
${DEPLOY}`

export function List() {
  const { stack } = useSearch({ strict: false }) as { readonly stack?: string }
  const query = useDeployments(stack)
  const rows = rowsOf(query.data)
  return (
    <>
      <Head title="Deployments" />
      <Loaded query={query} what="the list of deployments">
        {() =>
          rows.length === 0 ? (
            <Empty title="No deployments yet" command={FIRST}>
              A description file, <code>ergon.hcl</code>, names what shall be there. Each deployment
              compares it with what is there, and applies the differences.
            </Empty>
          ) : (
            <div className="stack wide">
              {stack !== undefined && (
                <p className="small">
                  Of the stack {stack}. <Link to="/deployments">Show all</Link>
                </p>
              )}
              <Table rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
              <div className="tools">
                <MoreRows query={query} label="Older deployments" />
              </div>
              <Command label="Deploy again" text={DEPLOY} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}

const COLUMNS: readonly Column<Listed>[] = [
  {
    title: 'Deployment',
    className: 'wrap-anywhere',
    cell: (one) => (
      <>
        <Link to={`/deployments/${one.id}`} className="id">
          {one.id}
        </Link>
        <span className="under">
          {one.stack}, {changesWords(one)}, <When at={one.created_at} />
        </span>
      </>
    ),
  },
  {
    title: 'Stack',
    className: 'wide-only',
    cell: ({ stack }) => (
      <Link to="/deployments" search={{ stack } as never}>
        <b>{stack}</b>
      </Link>
    ),
  },
  { title: 'State', cell: ({ status }) => <StateWord {...STATES[status]} /> },
  { title: 'Changes', className: 'num wide-only', cell: ({ changes }) => changes },
  {
    title: <TimeHead />,
    className: 'wide-only',
    cell: ({ created_at: at }) => <When at={at} inColumn />,
  },
]
