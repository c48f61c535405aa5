// The end of the session of this browser.
import { call } from '#console/client/call.ts'
import { left } from '#console/client/entered.ts'
import { useAction } from '#console/parts/use-action.ts'

export function SignOut() {
  const action = useAction(async () => {
    await call('DELETE /v1/session', {})
    left()
  })
  return (
    <button type="button" className="linked" disabled={action.isBusy} onClick={action.run}>
      {action.error === undefined ? 'Sign out' : 'Sign out: try again'}
    </button>
  )
}
