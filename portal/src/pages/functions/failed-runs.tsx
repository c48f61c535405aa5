// Runs that failed for good: what each was for, the error of its last attempt, another run, and the end of it.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { counted } from '#console/figures/time.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { When } from '#console/parts/time/when.tsx'
import type { Deployed, Failure } from './function.ts'
import { functionsChanged } from './use-functions.ts'

type Props = { readonly one: Deployed; readonly runs: readonly Failure[] }

export function FailedRuns({ one, runs }: Props) {
  const all = useReplay(one)
  const [discarded, setDiscarded] = useState<Failure | 'all'>()
  return (
    <>
      <div className="note bad">
        <p>
          <b>{counted(one.runs_failed, 'run')} failed for good. </b>
          Mend the function, then run them again.
        </p>
        <button type="button" className="btn small" disabled={all.isBusy} onClick={all.run}>
          Run all again
        </button>
        <button type="button" className="btn small danger" onClick={() => setDiscarded('all')}>
          Discard all
        </button>
      </div>
      {all.error !== undefined && <ProblemNote error={all.error} />}
      <Table
        rows={runs}
        keyOf={({ id }) => id}
        columns={[
          ...COLUMNS,
          actions<Failure>((run) => (
            <>
              <Replay one={one} run={run} />
              <button
                type="button"
                className="btn small danger"
                aria-label={`Discard: ${causeOf(run)}`}
                onClick={() => setDiscarded(run)}
              >
                Discard
              </button>
            </>
          )),
        ]}
      />
      {discarded !== undefined && (
        <Discard one={one} run={discarded} onClose={() => setDiscarded(undefined)} />
      )}
    </>
  )
}

function useReplay({ id }: Deployed, run?: Failure) {
  return useAction(async () => {
    await call('POST /v1/functions/:function/failures/replay', {
      path: { function: id },
      body: run === undefined ? {} : { id: run.id },
    })
    await functionsChanged()
  })
}

function Replay({ one, run }: { readonly one: Deployed; readonly run: Failure }) {
  const replay = useReplay(one, run)
  return (
    <button
      type="button"
      className="btn small"
      disabled={replay.isBusy}
      aria-label={`Run again: ${causeOf(run)}`}
      onClick={replay.run}
    >
      {replay.error === undefined ? 'Run again' : 'Try again'}
    </button>
  )
}

function Discard(props: {
  readonly one: Deployed
  readonly run: Failure | 'all'
  readonly onClose: () => void
}) {
  const { one, run, onClose } = props
  const [title, verb, words] =
    run === 'all'
      ? ['Discard all failed runs', 'Discard them', 'They are never run again.']
      : [
          'Discard a failed run',
          'Discard it',
          `${one.name} is never run again for ${causeOf(run)}.`,
        ]
  return (
    <Confirm
      title={title}
      verb={verb}
      onClose={onClose}
      act={async () => {
        await call('POST /v1/functions/:function/failures/discard', {
          path: { function: one.id },
          body: run === 'all' ? { all: true } : { id: run.id },
        })
        await functionsChanged()
      }}
    >
      {words}
    </Confirm>
  )
}

/** The object, or the time. */
const causeOf = ({ data }: Failure): string =>
  data['key'] === undefined ? (data['scheduled_at'] ?? '') : `${data['bucket']}/${data['key']}`

const COLUMNS: readonly Column<Failure>[] = [
  {
    title: 'For',
    className: 'wrap-anywhere',
    cell: (run) => (
      <>
        <span className="id">{causeOf(run)}</span>
        <span className="tiny reason">{run.error ?? 'no reason is known'}</span>
      </>
    ),
  },
  {
    title: 'Attempts',
    className: 'num wide-only',
    cell: ({ attempts }) => attempts,
  },
  {
    title: 'Last',
    className: 'wide-only',
    cell: ({ attempted_at: at }) => (at === null ? 'never' : <When at={at} />),
  },
  {
    title: 'In the log',
    className: 'wide-only',
    cell: ({ request_id }) => <span className="id">{request_id}</span>,
  },
]
