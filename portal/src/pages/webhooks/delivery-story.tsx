// What happened to a delivery: its attempts, the answer as text, when it is tried again, and a replay.
import { call } from '#console/client/call.ts'
import { Copy } from '#console/parts/page/copy.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { When } from '#console/parts/time/when.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import type { Delivery, Webhook } from './webhook.ts'

export function DeliveryStory({
  delivery,
  webhook: { id: webhook, status: ofWebhook },
}: {
  readonly delivery: Delivery
  readonly webhook: Webhook
}) {
  const { event_id, failed, answer, http_status, next_attempt_at, status, test } = delivery
  const replay = useAction(async () => {
    await call('POST /v1/webhooks/:webhook/replay', { path: { webhook }, body: { event_id } })
    await webhooksChanged()
  })
  return (
    <div className="stack story">
      {failed.length > 0 && (
        <ol className="small">
          {failed.map(({ at, error }, nth) => (
            <li key={at} className="wrap-anywhere">
              Attempt {nth + 1}, <When at={at} isExact />: {error}
            </li>
          ))}
        </ol>
      )}
      {next_attempt_at !== null && status === 'pending' && ofWebhook === 'active' && (
        <p className="small">
          Tried again <When at={next_attempt_at} />.
        </p>
      )}
      {answer !== null && (
        <figure>
          <figcaption className="small muted">
            The receiver’s answer{http_status !== null && `, status ${http_status}`}, first KiB
          </figcaption>
          {/* A keyboard scrolls what is longer than the box. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre tabIndex={0} aria-label="Answer">
            {answer === '' ? 'empty' : answer}
          </pre>
        </figure>
      )}
      {replay.error !== undefined && <ProblemNote error={replay.error} />}
      <div className="tools">
        {!test && (
          <button type="button" className="btn small" disabled={replay.isBusy} onClick={replay.run}>
            Replay
          </button>
        )}
        <Copy className="btn small" label="Copy event id" text={event_id} />
      </div>
    </div>
  )
}
