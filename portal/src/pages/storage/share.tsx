// A link for others: it needs no sign-in, reads this object alone, and ends.
import { useState } from 'react'
import { call } from '../../client/call.ts'
import type { ReplyOf } from '../../client/operations.ts'
import type { Place } from '../../client/s3.ts'
import { Select } from '../../parts/choices.tsx'
import { Command } from '../../parts/copy.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { When } from '../../parts/when.tsx'

const ENDS: readonly (readonly [string, string])[] = [
  ['3600', 'In an hour'],
  ['86400', 'In a day'],
  ['604800', 'In 7 days'],
]

export function Share({ place }: { readonly place: Place }) {
  const [expires, setExpires] = useState('3600')
  const [link, setLink] = useState<ReplyOf<'POST /v1/storage/presigned'>>()
  const action = useAction(async () => {
    const body = { ...place, expires_s: Number(expires) }
    setLink(await call('POST /v1/storage/presigned', { body }))
  })
  return (
    <div className="stack">
      <div className="share">
        <Select
          label="A link that ends"
          value={expires}
          options={ENDS}
          onChange={(value) => {
            setExpires(value)
            setLink(undefined)
          }}
        />
        <button type="button" className="btn" disabled={action.isBusy} onClick={action.run}>
          Make the link
        </button>
      </div>
      {link !== undefined && (
        <div role="status">
          <Command text={link.url} label="Link" />
          <p className="tiny">
            Whoever has it reads this object, until <When at={link.expires_at} isExact />. It is
            paid by this account.
          </p>
        </div>
      )}
      {action.error !== undefined && <ProblemNote error={action.error} />}
    </div>
  )
}
