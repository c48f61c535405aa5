// A link for another device of the same person: it adds a passkey there, once, within ten minutes.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { withTouch } from '#console/client/touch.ts'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { Secret } from '#console/parts/forms/secret.tsx'
import { When } from '#console/parts/time/when.tsx'

const TITLE = 'Add another device'

export function AnotherDevice({ onClose }: { readonly onClose: () => void }) {
  const [link, setLink] = useState<ReplyOf<'POST /v1/device-approvals'>>()
  const act = async () => setLink(await withTouch(() => call('POST /v1/device-approvals', {})))
  if (link !== undefined)
    return (
      <Secret title={TITLE} what="Link" secret={link.url} onClose={onClose}>
        Open it on the other device, until <When at={link.expires_at} isExact />. Give it to nobody
        else.
      </Secret>
    )
  return (
    <FormDialog title={TITLE} verb="Make the link" act={act} onClose={onClose}>
      <p className="small">
        A link, valid once. The device that opens it adds a passkey of yours and is signed in.
      </p>
    </FormDialog>
  )
}
