// The end of the session of this browser.
import { call } from '#console/client/call.ts'
import { memberChanged } from '#console/client/entered.ts'
import { useAction } from '#console/parts/forms/use-action.ts'

/** `stays`: at this address, as nobody. */
export function SignOut({ stays = false }: { readonly stays?: boolean }) {
  const action = useAction(async () => {
    await call('DELETE /v1/session', {})
    memberChanged(stays ? undefined : '/')
  })
  return (
    <button type="button" className="linked" disabled={action.isBusy} onClick={action.run}>
      {action.error === undefined ? 'Sign out' : 'Sign out: try again'}
    </button>
  )
}
