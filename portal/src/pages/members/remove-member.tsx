// The removal of a member, or of oneself.
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import type { Member } from './member.ts'

export function RemoveMember(props: { readonly member: Member; readonly onClose: () => void }) {
  const { member, onClose } = props
  const { id, name, current } = member
  return (
    <Confirm
      title={current ? 'Leave this account' : `Remove ${name}`}
      verb={current ? 'Leave' : 'Remove the member'}
      onClose={onClose}
      act={async () => {
        await withTouch(() => call('DELETE /v1/members/:member', { path: { member: id } }))
        await changed('GET /v1/members', 'GET /v1/session')
      }}
    >
      {current ? 'Your' : 'Their'} tokens, passkeys and sign-ins end at once, and requests that run
      under them are cut. What the member made stays.
    </Confirm>
  )
}
