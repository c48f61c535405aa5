// A link for another device of the same person: it adds a passkey there, once, within ten minutes.
import { useState } from 'react'
import { call } from '../../client/call.ts'
import type { ReplyOf } from '../../client/operations.ts'
import { withTouch } from '../../client/touch.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useAction } from '../../parts/use-action.ts'
import { When } from '../../parts/when.tsx'
import { Refusal } from '../../sign-in/refusal.tsx'

export function AnotherDevice({ onClose }: { readonly onClose: () => void }) {
  const [link, setLink] = useState<ReplyOf<'POST /v1/device-approvals'>>()
  const action = useAction(async () => {
    setLink(await withTouch(() => call('POST /v1/device-approvals', {})))
  })
  return (
    <Dialog title="Add another device" onClose={onClose}>
      {link === undefined ? (
        <p className="small">
          A link, valid once. The device that opens it adds a passkey of yours and is signed in.
        </p>
      ) : (
        <>
          <p className="small">
            Open it on the other device, until <When at={link.expires_at} isExact />. Give it to
            nobody else.
          </p>
          <Command text={link.url} label="Link" />
        </>
      )}
      <Refusal error={action.error} />
      <div className="tools">
        {link === undefined && (
          <button
            type="button"
            className="btn primary"
            disabled={action.isBusy}
            onClick={action.run}
          >
            Make the link
          </button>
        )}
        <button type="button" className="btn" onClick={onClose}>
          {link === undefined ? 'Not now' : 'Close'}
        </button>
      </div>
    </Dialog>
  )
}
