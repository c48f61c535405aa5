// Another address, other events or another description of a webhook.
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { webhooksChanged } from './use-webhooks.ts'
import { WebhookForm } from './webhook-form.tsx'
import type { Webhook } from './webhook.ts'

export function ChangeWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhook, onClose } = props
  return (
    <WebhookForm
      title="Change the webhook"
      verb="Change it"
      start={webhook}
      onClose={onClose}
      save={async ({ url, events, description }) => {
        // The url may be masked: it is sent where it was changed.
        const body = { ...(url !== webhook.url && { url }), events: [...events], description }
        const path = { webhook: webhook.id }
        await withTouch(() => call('PATCH /v1/webhooks/:webhook', { path, body }))
        await webhooksChanged()
        onClose()
      }}
    />
  )
}
