// The backups of a database: which there are, one more by hand, and a new database from one of them or from a time.
import { Fragment, useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { bytesExact, bytesShort, share } from '#console/figures/amounts.ts'
import { withoutAdvice } from '#contract/resources/passing-reasons.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Loaded, ProblemNote } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import type { ResourceState } from '#console/parts/resources/resource-state.ts'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import type { Backup, Database } from './database.ts'
import { Restore } from './restore.tsx'
import { useBackups } from './use-databases.ts'

type Doing =
  | { readonly what: 'restore'; readonly backup?: Backup }
  | { readonly what: 'delete'; readonly backup: Backup }

const backupsChanged = () => changed('GET /v1/databases/:database/backups')

export function Backups({ database }: { readonly database: Database }) {
  const { id, status } = database
  const query = useBackups(database)
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const make = useAction(async () => {
    await call('POST /v1/databases/:database/backups', { path: { database: id }, body: {} })
    await backupsChanged()
  })
  const from = query.data?.restorable_from ?? null
  return (
    <Section title="Backups" aside={query.data && <Kept {...query.data} />}>
      <Loaded query={query} what="the list of backups">
        {({ data }) =>
          data.length === 0 ? (
            <p className="small">The first backup is made within minutes.</p>
          ) : (
            <Table rows={data} keyOf={(one) => one.id} columns={columnsOf(setDoing)} />
          )
        }
      </Loaded>
      <div className="tools after">
        <button
          type="button"
          className="btn"
          disabled={make.isBusy || status !== 'deployed'}
          onClick={make.run}
        >
          Back up now
        </button>
        {from !== null && (
          <button type="button" className="btn" onClick={() => setDoing({ what: 'restore' })}>
            Restore a time
          </button>
        )}
      </div>
      {make.error !== undefined && <ProblemNote error={make.error} />}
      {doing?.what === 'restore' && (
        <Restore database={database} backup={doing.backup} from={from} onClose={stop} />
      )}
      {doing?.what === 'delete' && (
        <Confirm
          title="Delete the backup"
          verb="Delete it"
          onClose={stop}
          act={() => remove(doing.backup)}
        >
          The end of this backup can no longer be restored, and its bytes are charged no longer. A
          backup with which the times begin that can be restored stays until they end, as one made
          by itself.
        </Confirm>
      )}
    </Section>
  )
}

async function remove({ id: backup, database }: Backup): Promise<void> {
  await call('DELETE /v1/databases/:database/backups/:backup', { path: { database, backup } })
  await backupsChanged()
}

type KeptProps = {
  readonly restorable: readonly { readonly from: string; readonly to: string | null }[]
  readonly stored_bytes: number
}

const Kept = ({ restorable, stored_bytes: bytes }: KeptProps) => (
  <>
    {restorable.map(({ from, to }) => (
      <Fragment key={from}>
        any second since <When at={from} isExact />
        {to !== null && (
          <>
            {' '}
            to <When at={to} isExact />
          </>
        )}
        ,{' '}
      </Fragment>
    ))}
    <span title={bytesExact(BigInt(bytes))}>{bytesShort(BigInt(bytes))}</span> with the log
  </>
)

function stateOf({ status, done_bytes: done, total_bytes: total }: Backup): ResourceState {
  switch (status) {
    case 'wanted':
      return { tone: 'muted', word: 'Waits' }
    case 'running':
      return {
        tone: 'muted',
        word: total === null ? 'Begins' : `${share(BigInt(done), BigInt(total))} read`,
      }
    case 'done':
      return { tone: 'ok', word: 'Done' }
    case 'failed':
      return { tone: 'bad', word: 'Failed' }
  }
}

/** It is long, and wraps. */
const Why = ({ backup: { reason } }: { readonly backup: Backup }) =>
  reason === null ? null : (
    <>
      <br />
      <span className="wrap-anywhere">{withoutAdvice(reason)}</span>
    </>
  )

const KINDS = { nightly: 'nightly', manual: 'manual' }

const columnsOf = (setDoing: (doing: Doing) => void): readonly Column<Backup>[] => [
  {
    title: <TimeHead />,
    cell: (backup) => (
      <>
        <When at={backup.ended_at ?? backup.created_at} inColumn />
        <span className="under">
          {KINDS[backup.kind]}, {stateOf(backup).word}
          <Why backup={backup} />
        </span>
      </>
    ),
  },
  { title: 'Made', className: 'wide-only', cell: ({ kind }) => KINDS[kind] },
  {
    title: 'State',
    className: 'wide-only',
    cell: (backup) => (
      <>
        <StateWord {...stateOf(backup)} />
        <Why backup={backup} />
      </>
    ),
  },
  {
    title: 'Size',
    className: 'num',
    exact: ({ stored_bytes }) => bytesExact(BigInt(stored_bytes)),
    cell: ({ stored_bytes }) => bytesShort(BigInt(stored_bytes)),
  },
  actions((backup) => (
    <>
      {backup.status === 'done' && (
        <button
          type="button"
          className="btn small"
          onClick={() => setDoing({ what: 'restore', backup })}
        >
          Restore
        </button>
      )}
      {isDeletable(backup) && (
        <button
          type="button"
          className="btn small danger"
          onClick={() => setDoing({ what: 'delete', backup })}
        >
          Delete
        </button>
      )}
    </>
  )),
]

/** Those of the service go when no time that is kept needs them. */
const isDeletable = ({ kind, status }: Backup): boolean =>
  status !== 'running' && (kind === 'manual' || status !== 'done')
