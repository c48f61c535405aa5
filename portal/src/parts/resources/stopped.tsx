// Who or what stopped a resource with versions, or why its newest version does not answer.
import { Words } from '#console/parts/page/words.tsx'
import { reasonToTell, RESOURCE_STATES } from './resource-state.ts'
import type { Versioned } from './versioned.ts'

export function Stopped(props: {
  readonly one: Versioned
  /** While it is suspended, in words. */
  readonly costs?: string
}) {
  const { one, costs = 'nothing costs' } = props
  const { status, reason, live_version: live } = one
  if (status === 'suspended')
    return (
      <div className="note warn">
        <p className="wrap-anywhere">
          <b>Suspended{reason === null ? ' by hand' : `: ${reason}`}. </b>
          Callers get 503. Nothing is deleted, and {costs}. {reason === null && 'Resume it below.'}
        </p>
      </div>
    )
  if (status === 'crash_loop')
    return (
      <div className="note bad">
        <p className="wrap-anywhere">
          <b>{RESOURCE_STATES[status].word}. </b>
          {reason}. It is started again, after a longer wait each time.
        </p>
      </div>
    )
  const shownReason = reasonToTell(reason)
  return shownReason === null ? null : (
    <div className={live === null ? 'note bad' : 'note warn'}>
      <p className="wrap-anywhere">
        <b>{live === null ? 'No version answers. ' : `Version ${live} goes on answering. `}</b>
        <Words text={shownReason} />
      </p>
    </div>
  )
}
