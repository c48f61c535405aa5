// Another secret of a webhook, which is shown once.
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import type { Webhook } from './webhook.ts'

export function RotateSecret(props: {
  readonly webhook: Webhook
  readonly onClose: () => void
  readonly onMade: (secret: string) => void
}) {
  const path = { webhook: props.webhook.id }
  return (
    <Confirm
      title="Rotate the secret"
      verb="Rotate it"
      onClose={props.onClose}
      act={async () => {
        const { secret } = await withTouch(() => call('PUT /v1/webhooks/:webhook/secret', { path }))
        props.onMade(secret)
        await webhooksChanged()
      }}
    >
      Requests are signed with both secrets for a day, so that the receiver can change in its own
      time.
    </Confirm>
  )
}
