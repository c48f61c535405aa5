// A replay: the events of a time are sent again, those that failed or all.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Choices, Select } from '#console/parts/forms/choices.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { webhooksChanged } from './use-webhooks.ts'
import type { Webhook } from './webhook.ts'

const HOUR_MS = 3_600_000
const HOURS: readonly (readonly [string, string])[] = [
  ['1', 'The last hour'],
  ['24', 'The last 24 hours'],
  ['168', 'The last 7 days'],
]
type Which = 'missed' | 'all'
const WHICH: readonly (readonly [Which, string, string])[] = [
  ['missed', 'What did not arrive', 'Given up, or still tried'],
  ['all', 'Everything', 'The receiver gets again what it has: each event id once more'],
]

export function ReplayWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhook, onClose } = props
  const [hours, setHours] = useState('24')
  const [which, setWhich] = useState<Which>('missed')
  const [count, setCount] = useState<number>()
  const act = async () => {
    const now = Date.now()
    const body = {
      from: new Date(now - Number(hours) * HOUR_MS).toISOString(),
      to: new Date(now).toISOString(),
      delivered: which === 'all',
    }
    const path = { webhook: webhook.id }
    const replayed = await call('POST /v1/webhooks/:webhook/replay', { path, body })
    setCount(replayed.deliveries)
    await webhooksChanged()
  }
  return (
    <FormDialog
      title="Replay a time"
      verb="Replay"
      wayOut={count === undefined ? 'Not now' : 'Close'}
      act={act}
      onClose={onClose}
    >
      <Select label="Events of" value={hours} options={HOURS} onChange={setHours} />
      <Choices legend="Which events" value={which} options={WHICH} onChange={setWhich} />
      <p className="small" role="status">
        {count !== undefined && `${count} due now.`}
      </p>
    </FormDialog>
  )
}
