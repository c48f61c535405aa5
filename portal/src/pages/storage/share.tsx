// A link for others: it needs no sign-in, reads this object alone, and ends, at the latest with the sign-in that made it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import type { Place } from '#console/client/s3.ts'
import { Select } from '#console/parts/forms/choices.tsx'
import { Command } from '#console/parts/page/copy.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { When } from '#console/parts/time/when.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import { endsWithin, presignCommand } from './link.ts'

export function Share({ place }: { readonly place: Place }) {
  const session = useQuery(read('GET /v1/session', {}))
  const now = useNow('minute')
  const leftMs = new Date(session.data?.expires_at ?? 0).getTime() - now.getTime()
  const [expires, setExpires] = useState('900')
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
          options={endsWithin(leftMs)}
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
      <p className="tiny">
        A link that is made here also ends when you sign out. One that lasts longer needs a token:
      </p>
      <Command text={presignCommand(place)} label="Command" />
    </div>
  )
}
