// What can be done to a webhook; its deletion comes last.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Secret } from '#console/parts/forms/secret.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { ChangeWebhook } from './change-webhook.tsx'
import { DeleteWebhook } from './delete-webhook.tsx'
import { ReplayWebhook } from './replay-webhook.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { TestWebhook } from './test-webhook.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import type { Webhook } from './webhook.ts'

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

function Doings({ doing, ...dialog }: DoingsProps) {
  const [secret, setSecret] = useState<string>()
  if (secret !== undefined)
    return <Secret what="secret" secret={secret} onClose={() => setSecret(undefined)} />
  switch (doing) {
    case 'test':
      return <TestWebhook {...dialog} />
    case 'replay':
      return <ReplayWebhook {...dialog} />
    case 'change':
      return <ChangeWebhook {...dialog} />
    case 'rotate':
      return <RotateSecret {...dialog} onMade={setSecret} />
    case 'delete':
      return <DeleteWebhook {...dialog} />
    case undefined:
      return null
  }
}
