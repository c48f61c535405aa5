// A new token: name, scope, end, budget. Its secret is shown once.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Choices, Select } from '#console/parts/forms/choices.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { BudgetField, budgetOf } from '#console/parts/forms/budget-field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { Secret } from '#console/parts/forms/secret.tsx'
import { SCOPE_WORDS, SCOPES } from '#console/parts/forms/scopes.ts'
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
      energy_budget: budgetOf(budget) ?? undefined,
    },
  })

export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [form, setForm] = useState<Form>({ name: '', scope: 'read', days: '90', budget: '' })
  const [secret, setSecret] = useState<string>()
  const act = async () => {
    const made = await withTouch(() => make(form))
    setSecret(made.token)
    await changed('GET /v1/tokens')
  }
  if (secret !== undefined) return <Secret secret={secret} onClose={onClose} />
  return (
    <FormDialog title="New token" verb="Make the token" act={act} onClose={onClose}>
      <Field
        label="What is it for?"
        name="name"
        required
        maxLength={200}
        placeholder="my-laptop"
        value={form.name}
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
      <BudgetField
        hint="At the limit its requests answer 429 until 00:00 UTC."
        value={form.budget}
        onChange={(budget) => setForm({ ...form, budget })}
      />
    </FormDialog>
  )
}
