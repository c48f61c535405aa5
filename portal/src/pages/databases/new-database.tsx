// A new database: its name, its room, and the most that its server may use a day.
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../client/call.ts'
import { Select } from '../../parts/choices.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { databasesChanged } from './use-databases.ts'

const SIZES: readonly (readonly [string, string])[] = [
  ['100MB', '100 MB'],
  ['1GB', '1 GB'],
  ['10GB', '10 GB'],
  ['100GB', '100 GB'],
]

export function NewDatabase({ onClose }: { readonly onClose: () => void }) {
  const router = useRouter()
  const [form, setForm] = useState({ name: '', size: '1GB', budget: '5 kJ' })
  const action = useAction(async () => {
    const budget = form.budget.trim()
    const { name } = await call('POST /v1/databases', {
      body: {
        name: form.name,
        size: form.size,
        ...(budget !== '' && { energy_budget: `${budget}/day` }),
      },
    })
    await databasesChanged()
    onClose()
    await router.navigate({ to: `/databases/${name}` })
  })
  return (
    <Dialog title="New database" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Field
          label="Name"
          name="name"
          required
          maxLength={63}
          autoComplete="off"
          placeholder="notes"
          hint="The name of the database for SQL, too."
          value={form.name}
          error={action.error}
          onChange={({ target }) => setForm({ ...form, name: target.value })}
        />
        <Select
          label="Room"
          value={form.size}
          options={SIZES}
          onChange={(size) => setForm({ ...form, size })}
        />
        <Field
          label="Most that its server may use a day"
          name="energy_budget"
          placeholder="5 kJ; empty: no limit"
          hint="At the limit its sessions end until 00:00 UTC. Stored bytes are charged beside it."
          value={form.budget}
          error={action.error}
          onChange={({ target }) => setForm({ ...form, budget: target.value })}
        />
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            Make the database
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
