// One database: its address, four facts, the day, its queries, roles and backups, and what can be
// done to it.
import { Link } from '@tanstack/react-router'
import { Awake } from '#console/parts/resources/awake.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { reasonToTell } from '#console/parts/resources/resource-state.ts'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Head } from '#console/shell/head.tsx'
import { Actions } from './actions.tsx'
import { Address } from './address.tsx'
import { Backups } from './backups.tsx'
import { stateOf, type Database } from './database.ts'
import { DatabaseFacts } from './database-facts.tsx'
import { Queries } from './queries.tsx'
import { QueryBox } from './query-box.tsx'
import { Roles } from './roles.tsx'
import { useDatabase, useIntervals } from './use-databases.ts'

export function Detail({ name }: { readonly name: string }) {
  const query = useDatabase(name)
  return (
    <>
      <Head
        title={query.data?.name ?? name}
        crumb={
          <>
            <Link to="/databases">Databases</Link>
            {query.data !== undefined && ` / ${query.data.name} · ${versionsOf(query.data)}`}
          </>
        }
      >
        {query.data !== undefined && <StateWord {...stateOf(query.data)} />}
      </Head>
      <Loaded query={query} what="the database">
        {(database) => (
          <div className="stack wide">
            <Reason database={database} />
            <Address database={database} />
            <DatabaseFacts database={database} />
            <Day database={database} />
            <QueryBox database={database} />
            <Queries database={database} />
            <Roles database={database} />
            <Backups database={database} />
            <Actions database={database} />
          </div>
        )}
      </Loaded>
    </>
  )
}

const Day = ({ database }: { readonly database: Database }) => (
  <Awake
    query={useIntervals(database)}
    service="databases"
    wakers={{
      connection: 'a connection',
      backup: 'a backup',
      change: 'a change of the database',
    }}
    aside="While it sleeps, only stored bytes cost; a connection wakes it."
  />
)

function versionsOf({ postgres_version, vector_version, region }: Database): string {
  const version = postgres_version === null ? 'PostgreSQL 16' : `PostgreSQL ${postgres_version}`
  return `${version}${vector_version === null ? '' : ' with vector'} · region ${region}`
}

/** Who or what stopped it, and what starts it again. */
function Reason({ database: { status, reason, full } }: { readonly database: Database }) {
  if (status === 'suspended')
    return (
      <div className="note warn">
        <p>
          <b>Suspended{reason === null ? ' by hand' : `: ${reason}`}. </b>
          Nobody can connect. Nothing is deleted, and stored bytes still cost.{' '}
          {reason === null && 'Resume it below.'}
        </p>
      </div>
    )
  if (full)
    return (
      <div className="note bad">
        <p>
          <b>It is full. </b>Transactions are read-only until there is room: give it more below.
        </p>
      </div>
    )
  const shownReason = reasonToTell(reason)
  return shownReason === null ? null : (
    <div className={status === 'failed' ? 'note bad' : 'note warn'}>
      <p>{shownReason}</p>
    </div>
  )
}
