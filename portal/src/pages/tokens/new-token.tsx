// A new token: name, scope, end, budget. Its secret is shown once.
import { useState } from 'react'
import { call } from '../../client/call.ts'
import { changed } from '../../client/queries.ts'
import { withTouch } from '../../client/touch.ts'
import { Choices, Select } from '../../parts/choices.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { Secret } from '../../parts/secret.tsx'
import { SCOPE_WORDS, SCOPES } from '../../parts/scopes.ts'
import type { Scope } from '#contract/operation.ts'

const DAYS: readonly (readonly [string, string])[] = [
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['7', 'In 7 days'],
  ['', 'Never'],
]

type Form = {
  readonly name: string
  readonly scope: Scope
  /** Empty: it does not end. */
  readonly days: string
  readonly budget: string
}

const make = ({ name, scope, days, budget }: Form) =>
  call('POST /v1/tokens', {
    body: {
      name,
      scope,
      ...(days !== '' && { expires_days: Number(days) }),
      ...(budget.trim() !== '' && { energy_budget: `${budget.trim()}/day` }),
    },
  })

export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [form, setForm] = useState<Form>({ name: '', scope: 'read', days: '90', budget: '' })
  const [secret, setSecret] = useState<string>()
  const action = useAction(async () => {
    const made = await withTouch(() => make(form))
    setSecret(made.token)
    await changed('GET /v1/tokens')
  })
  if (secret !== undefined) return <Secret secret={secret} onClose={onClose} />
  return (
    <Dialog title="New token" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Field
          label="What is it for?"
          name="name"
          required
          maxLength={200}
          placeholder="my-laptop"
          value={form.name}
          error={action.error}
          onChange={({ target }) => setForm({ ...form, name: target.value })}
        />
        <Choices
          legend="What it may do"
          value={form.scope}
          options={SCOPES.map((scope) => [scope, scope, SCOPE_WORDS[scope].long])}
          onChange={(scope) => setForm({ ...form, scope })}
        />
        <Select
          label="Ends"
          value={form.days}
          options={DAYS}
          onChange={(days) => setForm({ ...form, days })}
        />
        <Field
          label="Most that it may use a day"
          name="energy_budget"
          placeholder="500 J, 2 kJ; empty: no limit"
          value={form.budget}
          error={action.error}
          hint="At the limit its requests answer 429 until 00:00 UTC."
          onChange={({ target }) => setForm({ ...form, budget: target.value })}
        />
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            Make the token
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
