// Signing in: by passkey, or once by a recovery code. There is no password.
import { useEffect, useState } from 'react'
import { call } from '#console/client/call.ts'
import { memberChanged } from '#console/client/entered.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { Logo } from '#console/parts/page/icons.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { signIn } from './passkey.ts'
import { Refusal } from '#console/parts/forms/refusal.tsx'
import './sign-in.css'

export function SignIn() {
  const [isRecovering, setRecovering] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Ergon'
  }, [])
  return (
    <main className="signing" id="main">
      <a className="brand" href="/">
        <Logo />
        ergon
      </a>
      <section className="plate">
        <h1>Sign in</h1>
        {isRecovering ? <Recover /> : <ByPasskey />}
        <button type="button" className="linked small" onClick={() => setRecovering(!isRecovering)}>
          {isRecovering ? 'Use a passkey' : 'Lost all your devices? Use a recovery code'}
        </button>
      </section>
      <p className="small">
        No account yet? <a href="/">Make one</a>
      </p>
    </main>
  )
}

function ByPasskey() {
  const action = useAction(async () => {
    await signIn()
    memberChanged()
  })
  return (
    <>
      <p className="small">Your device asks for your finger, face or PIN.</p>
      <button type="button" className="btn primary" disabled={action.isBusy} onClick={action.run}>
        Use your passkey
      </button>
      <Refusal error={action.error} />
    </>
  )
}

function Recover() {
  const [code, setCode] = useState('')
  const action = useAction(async () => {
    await call('POST /v1/session/recover', { body: { code: code.trim() } })
    memberChanged()
  })
  return (
    <Form action={action}>
      <Field
        label="One of your ten codes"
        name="code"
        required
        autoComplete="one-time-code"
        spellCheck={false}
        placeholder="k7q2-9m4x"
        value={code}
        hint="It lets you in once. Add a passkey right after."
        onChange={({ target }) => setCode(target.value)}
      />
      <button type="submit" className="btn primary" disabled={action.isBusy}>
        Let me in
      </button>
      <Refusal error={action.error} />
    </Form>
  )
}
