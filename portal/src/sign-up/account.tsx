// Step 1: a passkey makes the account, or takes a place in one by the code behind the #.
import { useState } from 'react'
import { tellOtherTabs } from '#console/client/entered.ts'
import { queryClient } from '#console/client/queries.ts'
import { isProblem } from '#console/client/problem.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { signUp } from '#console/sign-in/passkey.ts'
import { Refusal } from '#console/parts/forms/refusal.tsx'
import { Invited } from './invited.tsx'
import { beginWith, invitationIn, savedStep, type Step } from './progress.ts'

export function Account({ onDone }: { readonly onDone: (next: Step) => void }) {
  const [invitation] = useState(() => invitationIn(location.hash))
  const [name, setName] = useState('')
  const action = useAction(async () => {
    const { recovery_codes } = await signUp(
      invitation === undefined ? { name: name.trim() } : { invitation },
    )
    beginWith(recovery_codes)
    history.replaceState(null, '', location.pathname)
    tellOtherTabs()
    await queryClient.resetQueries()
    onDone(savedStep())
  })
  const passkey = (
    <>
      <button type="submit" className="btn primary" disabled={action.isBusy}>
        Create a passkey
      </button>
      <p className="small muted">
        Your device asks for your finger, face or PIN. There is no password, and we ask for no mail
        address.
      </p>
      {isProblem(action.error, 'sign_up_closed') ? (
        <div className="note warn" role="alert">
          <p>This Ergon is by invitation. Open the link that you were sent.</p>
        </div>
      ) : (
        <Refusal error={action.error} />
      )}
    </>
  )
  return (
    <Form action={action}>
      {invitation === undefined ? (
        <>
          <h1>Make an account</h1>
          <Field
            label="What shall we call it?"
            name="name"
            required
            maxLength={100}
            placeholder="my-team"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          {passkey}
        </>
      ) : (
        <Invited invitation={invitation}>{passkey}</Invited>
      )}
    </Form>
  )
}
