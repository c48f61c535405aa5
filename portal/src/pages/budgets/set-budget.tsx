// Sets or removes the budget of a token, a database, a function or a workload.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { changed } from '#console/client/queries.ts'
import { Select } from '#console/parts/forms/choices.tsx'
import { BudgetField, budgetOf, typedBudget } from '#console/parts/forms/budget-field.tsx'
import { Dialog } from '#console/parts/forms/dialog.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { Waiting } from '#console/parts/page/loaded.tsx'
import { useLimited, type Limited } from './limited.ts'

type Props = { readonly onClose: () => void }

export function SetBudget({ onClose }: Props) {
  const limited = useLimited()
  const [first, ...others] = limited ?? []
  return first === undefined ? (
    <NothingToLimit isRead={limited !== undefined} onClose={onClose} />
  ) : (
    <BudgetForm first={first} others={others} onClose={onClose} />
  )
}

const NothingToLimit = ({ isRead, onClose }: Props & { readonly isRead: boolean }) => (
  <Dialog title="Set a budget" onClose={onClose}>
    {isRead ? (
      <p className="small">
        There is nothing to limit yet. A budget is of a token, a database, a function or a workload:{' '}
        <Link to="/tokens">make a token</Link>, <Link to="/databases">make a database</Link>, or
        deploy <Link to="/functions">a function</Link> or <Link to="/workloads">a workload</Link>.
      </p>
    ) : (
      <Waiting what="the list of what can be limited" />
    )}
    <div className="tools">
      <button type="button" className="btn" onClick={onClose}>
        Not now
      </button>
    </div>
  </Dialog>
)

type FormProps = Props & { readonly first: Limited; readonly others: readonly Limited[] }

function BudgetForm({ first, others, onClose }: FormProps) {
  const limited = [first, ...others]
  const [chosen, setChosen] = useState<string>()
  const [budget, setBudget] = useState<string>()
  const one = limited.find(({ id }) => id === chosen) ?? first
  const text = budget ?? typedBudget(one.budget)
  const act = async () => {
    await one.set(budgetOf(text))
    await changed(
      'GET /v1/budgets',
      'GET /v1/databases',
      'GET /v1/functions',
      'GET /v1/workloads',
      'GET /v1/tokens',
    )
    onClose()
  }
  return (
    <FormDialog title="Set a budget" verb="Set it" act={act} onClose={onClose}>
      <Select
        label="Of"
        value={one.id}
        options={limited.map(({ id, title }) => [id, title])}
        onChange={(id) => {
          setChosen(id)
          setBudget(undefined)
        }}
      />
      <BudgetField
        hint="The budget holds for today too. At the limit requests of a token answer 429, sessions of a database end, and callers of a function or a workload get 503."
        value={text}
        onChange={setBudget}
      />
    </FormDialog>
  )
}
