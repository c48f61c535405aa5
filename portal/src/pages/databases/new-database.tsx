// A new database: its name, its room, and the most energy that it may use a day.
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Select } from '#console/parts/forms/choices.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { BudgetField, budgetOf } from '#console/parts/forms/budget-field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { databasesChanged } from './use-databases.ts'

const SIZES: readonly (readonly [string, string])[] = [
  ['256MB', '256 MB'],
  ['1GB', '1 GB'],
  ['10GB', '10 GB'],
  ['100GB', '100 GB'],
]

export function NewDatabase({ onClose }: { readonly onClose: () => void }) {
  const router = useRouter()
  const [form, setForm] = useState({ name: '', size: '1GB', budget: '5 kJ' })
  const act = async () => {
    const { name } = await call('POST /v1/databases', {
      body: {
        name: form.name,
        size: form.size,
        energy_budget: budgetOf(form.budget) ?? undefined,
      },
    })
    await databasesChanged()
    onClose()
    await router.navigate({ to: `/databases/${name}` })
  }
  return (
    <FormDialog title="New database" verb="Make the database" act={act} onClose={onClose}>
      <Field
        label="Name"
        name="name"
        required
        maxLength={63}
        autoComplete="off"
        placeholder="notes"
        hint="The name of the database for SQL, too."
        value={form.name}
        onChange={({ target }) => setForm({ ...form, name: target.value })}
      />
      <Select
        label="Size"
        value={form.size}
        options={SIZES}
        onChange={(size) => setForm({ ...form, size })}
      />
      <BudgetField
        label="Most that it may use a day"
        hint="At the limit its sessions end until 00:00 UTC. Stored bytes are charged beside it."
        value={form.budget}
        onChange={(budget) => setForm({ ...form, budget })}
      />
    </FormDialog>
  )
}
