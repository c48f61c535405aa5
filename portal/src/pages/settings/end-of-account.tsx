// The end of the account, and the way back while there is one.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { When } from '#console/parts/time/when.tsx'

export function EndOfAccount() {
  const account = useQuery(read('GET /v1/account', {})).data
  const [isEnding, setEnding] = useState(false)
  const restore = useAction(async () => {
    await call('POST /v1/account/restore', { body: {} })
    await changed('GET /v1/account')
  })
  if (account === undefined) return null
  const { id, deletes_at } = account
  return (
    <Section title="Delete the account">
      <div className="stack">
        {deletes_at === null ? (
          <div className="tools">
            <button type="button" className="btn danger" onClick={() => setEnding(true)}>
              Delete the account
            </button>
          </div>
        ) : (
          <div className="note bad">
            <p>
              <b>
                It is deleted on <When at={deletes_at} isExact />.{' '}
              </b>
              Nothing new is taken. Until then it can be restored.
            </p>
            <button
              type="button"
              className="btn small"
              disabled={restore.isBusy}
              onClick={restore.run}
            >
              Restore it
            </button>
          </div>
        )}
        {restore.error !== undefined && <ProblemNote error={restore.error} />}
      </div>
      {isEnding && (
        <Confirm
          title="Delete the account"
          verb="Delete the account"
          name={id}
          onClose={() => setEnding(false)}
          act={async () => {
            await withTouch(() => call('DELETE /v1/account', { body: { confirm: id } }))
            await changed('GET /v1/account')
          }}
        >
          Everything of it is deleted after days in which it can be restored: databases, objects,
          tokens, members. Delete buckets and databases first; receipts that others hold stay valid.
        </Confirm>
      )}
    </Section>
  )
}
