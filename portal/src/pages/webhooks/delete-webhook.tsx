// The deletion of a webhook leads back to the list.
import { useRouter } from '@tanstack/react-router'
import { call } from '#console/client/call.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import { webhookName, type Webhook } from './webhook.ts'

export function DeleteWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhook, onClose } = props
  const router = useRouter()
  return (
    <Confirm
      title={`Delete ${webhookName(webhook)}`}
      verb="Delete it"
      onClose={onClose}
      act={async () => {
        await call('DELETE /v1/webhooks/:webhook', { path: { webhook: webhook.id } })
        await webhooksChanged()
        await router.navigate({ to: '/webhooks' })
      }}
    >
      Nothing is sent any more, and deliveries that wait are dropped. Its events stay in the list of
      events.
    </Confirm>
  )
}
