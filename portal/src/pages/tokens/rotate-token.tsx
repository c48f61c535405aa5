// Rotation: a new secret of the same name and limits; the old one stays valid for an hour at most.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Choices } from '#console/parts/forms/choices.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { Secret } from '#console/parts/forms/secret.tsx'
import type { Token } from './token.ts'

const HOUR_S = 3600
type Overlap = 'hour' | 'none'
const OVERLAPS: readonly (readonly [Overlap, string, string])[] = [
  ['hour', 'The old one works for another hour', 'Time to put the new one in place'],
  ['none', 'The old one ends at once', 'When the old one may be known to others'],
]

export function RotateToken(props: { readonly token: Token; readonly onClose: () => void }) {
  const { token, onClose } = props
  const [overlap, setOverlap] = useState<Overlap>('hour')
  const [secret, setSecret] = useState<string>()
  const act = async () => {
    const made = await withTouch(() =>
      call('POST /v1/tokens/:token/rotate', {
        path: { token: token.id },
        body: { overlap_s: overlap === 'hour' ? HOUR_S : 0 },
      }),
    )
    setSecret(made.token)
    await changed('GET /v1/tokens')
  }
  if (secret !== undefined) return <Secret secret={secret} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${token.name}`} verb="Rotate" act={act} onClose={onClose}>
      <p className="small">A new token of the same name, scope and limits takes its place.</p>
      <Choices legend="The old token" value={overlap} options={OVERLAPS} onChange={setOverlap} />
    </FormDialog>
  )
}
