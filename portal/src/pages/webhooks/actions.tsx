// What can be done to a webhook; its deletion comes last.
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/confirm.tsx'
import { ProblemNote } from '#console/parts/loaded.tsx'
import { Secret } from '#console/parts/secret.tsx'
import { Section } from '#console/parts/section.tsx'
import { useAction } from '#console/parts/use-action.ts'
import { ReplayWebhook } from './replay-webhook.tsx'
import { TestWebhook } from './test-webhook.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import { webhookName, type Webhook } from './webhook.ts'

type Doing = 'test' | 'replay' | 'change' | 'rotate' | 'delete'
const DIALOGS: readonly (readonly [Doing, string])[] = [
  ['test', 'Send test'],
  ['replay', 'Replay a time'],
  ['change', 'Change'],
  ['rotate', 'Rotate secret'],
]

export function Actions({ webhook }: { readonly webhook: Webhook }) {
  const [doing, setDoing] = useState<Doing>()
  const path = { webhook: webhook.id }
  const isStopped = webhook.status !== 'active'
  const pause = useAction(async () => {
    const asked = { path, body: { paused: !isStopped } }
    await withTouch(() => call('PATCH /v1/webhooks/:webhook', asked))
    await webhooksChanged()
  })
  return (
    <Section title="Change it">
      <div className="tools">
        {DIALOGS.map(([what, words]) => (
          <button key={what} type="button" className="btn" onClick={() => setDoing(what)}>
            {words}
          </button>
        ))}
        <button type="button" className="btn" disabled={pause.isBusy} onClick={pause.run}>
          {isStopped ? 'Resume' : 'Pause'}
        </button>
        <button type="button" className="btn danger" onClick={() => setDoing('delete')}>
          Delete
        </button>
      </div>
      {pause.error !== undefined && <ProblemNote error={pause.error} />}
      <Doings doing={doing} webhook={webhook} onClose={() => setDoing(undefined)} />
    </Section>
  )
}

type DoingsProps = {
  readonly doing: Doing | undefined
  readonly webhook: Webhook
  readonly onClose: () => void
}

function Doings({ doing, webhook, onClose }: DoingsProps) {
  const router = useRouter()
  const [secret, setSecret] = useState<string>()
  const path = { webhook: webhook.id }
  if (secret !== undefined)
    return <Secret what="secret" secret={secret} onClose={() => setSecret(undefined)} />
  switch (doing) {
    case 'test':
      return <TestWebhook webhook={webhook} onClose={onClose} />
    case 'replay':
      return <ReplayWebhook webhook={webhook} onClose={onClose} />
    case 'change':
      return (
        <WebhookForm
          title="Change the webhook"
          verb="Change it"
          start={webhook}
          onClose={onClose}
          save={async ({ url, events, description }) => {
            // The url may be masked: it is sent where it was changed.
            const body = {
              ...(url !== webhook.url && { url }),
              events: [...events],
              description,
            }
            await withTouch(() => call('PATCH /v1/webhooks/:webhook', { path, body }))
            await webhooksChanged()
            onClose()
          }}
        />
      )
    case 'rotate':
      return (
        <Confirm
          title="Rotate the secret"
          verb="Rotate it"
          onClose={onClose}
          act={async () => {
            const { secret: made } = await withTouch(() =>
              call('PUT /v1/webhooks/:webhook/secret', { path }),
            )
            setSecret(made)
            await webhooksChanged()
          }}
        >
          Requests are signed with both secrets for a day, so that the receiver can change in its
          own time.
        </Confirm>
      )
    case 'delete':
      return (
        <Confirm
          title={`Delete ${webhookName(webhook)}`}
          verb="Delete it"
          onClose={onClose}
          act={async () => {
            await call('DELETE /v1/webhooks/:webhook', { path })
            await webhooksChanged()
            await router.navigate({ to: '/webhooks' })
          }}
        >
          Nothing is sent any more, and deliveries that wait are dropped. Its events stay in the
          list of events.
        </Confirm>
      )
    case undefined:
      return null
  }
}
