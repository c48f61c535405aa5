// A test: a synthetic event of a type that the webhook asks for.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Select } from '#console/parts/forms/choices.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import type { Webhook } from './webhook.ts'

export function TestWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhook, onClose } = props
  const [event, setEvent] = useState(webhook.events[0] ?? '')
  const act = async () => {
    const path = { webhook: webhook.id }
    await call('POST /v1/webhooks/:webhook/test', { path, body: { event } })
    await webhooksChanged()
    onClose()
  }
  return (
    <FormDialog title="Send a test" verb="Send it" act={act} onClose={onClose}>
      <p className="small">
        An event with sample data, marked as a test. It is among the deliveries at once.
      </p>
      <Select
        label="Event"
        value={event}
        options={webhook.events.map((type) => [type, type])}
        onChange={setEvent}
      />
    </FormDialog>
  )
}
