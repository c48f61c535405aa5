// The actions on a function.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { BudgetField, budgetOf, typedBudget } from '#console/parts/forms/budget-field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { ResourceActions } from '#console/parts/resources/resource-actions.tsx'
import type { Deployed } from './function.ts'
import { functionsChanged } from './use-functions.ts'

type Change = { readonly suspended: boolean } | { readonly energy_budget: string | null }

async function change({ id }: Deployed, body: Change): Promise<void> {
  await call('PATCH /v1/functions/:function', { path: { function: id }, body })
  await functionsChanged()
}

export const Actions = ({ one }: { readonly one: Deployed }) => (
  <ResourceActions
    name={one.name}
    status={one.status}
    list="/functions"
    suspend={(suspended) => change(one, { suspended })}
    remove={async () => {
      await call('DELETE /v1/functions/:function', { path: { function: one.id } })
      await functionsChanged()
    }}
    suspendWords="Requests that run end, and callers get 503 until it is resumed. Nothing is deleted, and nothing costs."
    removeWords="Its versions, its variables and its log are deleted, and its address answers no more."
    change="Budget"
    dialog={(onClose) => <ChangeBudget one={one} onClose={onClose} />}
  />
)

function ChangeBudget({ one, onClose }: { readonly one: Deployed; readonly onClose: () => void }) {
  const [budget, setBudget] = useState(typedBudget(one.energy_budget))
  const act = async () => {
    await change(one, { energy_budget: budgetOf(budget) })
    onClose()
  }
  return (
    <FormDialog title={`Budget of ${one.name}`} verb="Change it" act={act} onClose={onClose}>
      <BudgetField
        label="Most that it may use a day"
        hint="At the limit its process ends, and callers get 503 until 00:00 UTC."
        value={budget}
        onChange={setBudget}
      />
    </FormDialog>
  )
}
