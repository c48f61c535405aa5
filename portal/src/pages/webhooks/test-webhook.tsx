// A test: a synthetic event of a type that the webhook asks for.
import { useState } from 'react'
import { call } from '../../client/call.ts'
import { Select } from '../../parts/choices.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { webhooksChanged } from './use-webhooks.ts'
import type { Webhook } from './webhook.ts'

export function TestWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhook, onClose } = props
  const [event, setEvent] = useState(webhook.events[0] ?? '')
  const action = useAction(async () => {
    const path = { webhook: webhook.id }
    await call('POST /v1/webhooks/:webhook/test', { path, body: { event } })
    await webhooksChanged()
    onClose()
  })
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <p className="small">
        An event with sample data, marked as a test. It is among the deliveries at once.
      </p>
      <Select
        label="Event"
        value={event}
        options={webhook.events.map((type) => [type, type])}
        onChange={setEvent}
      />
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn primary" disabled={action.isBusy} onClick={action.run}>
          Send it
        </button>
        <button type="button" className="btn" onClick={onClose}>
          Not now
        </button>
      </div>
    </Dialog>
  )
}
