// More or less room, and the budget of a day.
import { useState } from 'react'
import { call } from '../../client/call.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import type { Database } from './database.ts'
import { databasesChanged } from './use-databases.ts'

const MB = 1e6

export function ChangeDatabase(props: {
  readonly database: Database
  readonly onClose: () => void
}) {
  const { database, onClose } = props
  const [size, setSize] = useState(`${Math.round(database.size_bytes / MB)}MB`)
  const [budget, setBudget] = useState(database.energy_budget?.replace('/day', '') ?? '')
  const action = useAction(async () => {
    await call('PATCH /v1/databases/:database', {
      path: { database: database.id },
      body: { size, energy_budget: budget.trim() === '' ? null : `${budget.trim()}/day` },
    })
    await databasesChanged()
    onClose()
  })
  return (
    <Dialog title={`Room and budget of ${database.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Field
          label="Room"
          name="size"
          required
          hint="From 64MB to 1TB, such as 2GB."
          value={size}
          error={action.error}
          onChange={({ target }) => setSize(target.value)}
        />
        <Field
          label="Most that its server may use a day"
          name="energy_budget"
          placeholder="5 kJ; empty: no limit"
          hint="It holds for today too."
          value={budget}
          error={action.error}
          onChange={({ target }) => setBudget(target.value)}
        />
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            Change it
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
