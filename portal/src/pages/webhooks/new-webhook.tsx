// A new webhook. Its secret is shown once.
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { Secret } from '#console/parts/forms/secret.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { webhooksChanged } from './use-webhooks.ts'

const START = { url: '', events: ['balance.low', 'balance.depleted'], description: '' }

export function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const router = useRouter()
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string }>()
  if (made !== undefined)
    return (
      <Secret
        what="secret"
        secret={made.secret}
        onClose={() => {
          onClose()
          void router.navigate({ to: `/webhooks/${made.id}` })
        }}
      />
    )
  return (
    <WebhookForm
      title="New webhook"
      verb="Make the webhook"
      start={START}
      onClose={onClose}
      save={async (fields) => {
        const body = { ...fields, events: [...fields.events] }
        setMade(await withTouch(() => call('POST /v1/webhooks', { body })))
        await webhooksChanged()
      }}
    />
  )
}
