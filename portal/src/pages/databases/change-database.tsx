// More or less room, and the budget of a day.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { BudgetField, budgetOf, typedBudget } from '#console/parts/forms/budget-field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import type { Database } from './database.ts'
import { databasesChanged } from './use-databases.ts'

const MB = 1e6

export function ChangeDatabase(props: {
  readonly database: Database
  readonly onClose: () => void
}) {
  const { database, onClose } = props
  const [size, setSize] = useState(`${Math.round(database.size_bytes / MB)}MB`)
  const [budget, setBudget] = useState(typedBudget(database.energy_budget))
  const act = async () => {
    await call('PATCH /v1/databases/:database', {
      path: { database: database.id },
      body: { size, energy_budget: budgetOf(budget) },
    })
    await databasesChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Size and budget of ${database.name}`}
      verb="Change it"
      act={act}
      onClose={onClose}
    >
      <Field
        label="Size"
        name="size"
        required
        hint="From 256MB to 1TB, such as 2GB."
        value={size}
        onChange={({ target }) => setSize(target.value)}
      />
      <BudgetField
        label="Most that it may use a day"
        hint="It holds for today too."
        value={budget}
        onChange={setBudget}
      />
    </FormDialog>
  )
}
