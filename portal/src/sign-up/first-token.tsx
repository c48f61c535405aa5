// Step 4: a token, made by the press of a button and shown once.
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { Refusal } from '#console/parts/forms/refusal.tsx'

const DAYS = 90

export function FirstToken(props: {
  readonly token: string | undefined
  readonly onMade: (token: string) => void
  readonly onDone: () => void
}) {
  const { token, onMade, onDone } = props
  const action = useAction(async () => {
    const made = await withTouch(() =>
      call('POST /v1/tokens', { body: { name: 'sign-up', scope: 'read', expires_days: DAYS } }),
    )
    onMade(made.token)
  })
  return (
    <>
      <h1>Your first token</h1>
      <p className="small">Shown once. It may ask models and read; it ends in {DAYS} days.</p>
      {token === undefined ? (
        <>
          <Refusal error={action.error} />
          <div className="tools">
            <button
              type="button"
              className="btn primary"
              disabled={action.isBusy}
              onClick={action.run}
            >
              Make the token
            </button>
            <button type="button" className="btn" onClick={onDone}>
              Without a token
            </button>
          </div>
        </>
      ) : (
        <>
          <Command text={token} label="Token" />
          <div className="tools">
            <button type="button" className="btn primary" onClick={onDone}>
              I have it
            </button>
          </div>
        </>
      )}
    </>
  )
}
