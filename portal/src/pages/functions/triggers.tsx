// What runs a function beside requests: new objects of buckets and times; and the runs that failed for good.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { counted } from '#console/figures/time.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import type { Deployed } from './function.ts'
import { FailedRuns } from './failed-runs.tsx'
import { useFailures } from './use-functions.ts'

export function Triggers({ one }: { readonly one: Deployed }) {
  const { on, schedule, runs_waiting: waiting } = one
  return (
    <Section title="Triggers" aside={waitWords(waiting)}>
      <div className="stack">
        {on.length === 0 && schedule === null ? (
          <p className="small">
            Requests alone run it.{' '}
            <code>ergon fn deploy hello.ts --on bucket/photos/object-created</code> runs it for each
            new object, <code>--schedule "*/5 * * * *"</code> at times.
          </p>
        ) : (
          <dl className="pairs">
            {on.map((trigger) => (
              <Pair key={trigger} term="Each new object of">
                <Link to={`/storage/${bucketOf(trigger)}/`}>{bucketOf(trigger)}</Link>
              </Pair>
            ))}
            {schedule !== null && (
              <Pair term="At times of UTC">
                <span className="id">{schedule}</span>
              </Pair>
            )}
          </dl>
        )}
        <Failures one={one} />
      </div>
    </Section>
  )
}

const waitWords = (runs: number): string | undefined =>
  runs === 0 ? undefined : `${counted(runs, 'run')} ${runs === 1 ? 'waits' : 'wait'}`

const Pair = ({ term, children }: { readonly term: string; readonly children: ReactNode }) => (
  <>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </>
)

/** `bucket/photos/object-created` is of photos. */
const bucketOf = (trigger: string): string => trigger.split('/')[1] ?? ''

/** Asked for only while there are some. */
function Failures({ one }: { readonly one: Deployed }) {
  const query = useFailures(one)
  if (one.runs_failed === 0) return null
  return (
    <Loaded query={query} what="the failed runs">
      {({ data }) => <FailedRuns one={one} runs={data} />}
    </Loaded>
  )
}
