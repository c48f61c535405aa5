// After a recovery code: nothing else is answered until the account has a new passkey.
import { useState } from 'react'
import { queryClient } from '#console/client/queries.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { addPasskey } from './passkey.ts'
import { Refusal } from '#console/parts/forms/refusal.tsx'
import './sign-in.css'

export function AddPasskey() {
  const [name, setName] = useState('')
  const action = useAction(async () => {
    await addPasskey(name.trim())
    await queryClient.invalidateQueries()
  })
  return (
    <main className="signing" id="main">
      <Form className="plate" action={action}>
        <h1>Add a passkey</h1>
        <p className="small">The code has let you in. The next time a passkey does.</p>
        <Field
          label="Name of this device"
          name="name"
          required
          maxLength={100}
          placeholder="my laptop"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <button type="submit" className="btn primary" disabled={action.isBusy}>
          Create a passkey
        </button>
        <Refusal error={action.error} />
      </Form>
    </main>
  )
}
