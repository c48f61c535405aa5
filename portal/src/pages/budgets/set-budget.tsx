// Sets or removes the budget of a database or a token.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read, readPages, rowsOf, useRest } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Select } from '#console/parts/choices.tsx'
import { BudgetField, budgetOf, typedBudget } from '#console/parts/budget-field.tsx'
import { FormDialog } from '#console/parts/form-dialog.tsx'

/** Something that can have a budget, and its budget now. */
type Limited = {
  readonly id: string
  readonly title: string
  readonly budget: string | null
  readonly set: (energy_budget: string | null) => Promise<unknown>
}

function useLimited(): readonly Limited[] {
  const databases = useQuery(read('GET /v1/databases', {})).data?.data ?? []
  const pages = useInfiniteQuery(readPages('GET /v1/tokens', {}))
  useRest(pages)
  const tokens = rowsOf(pages.data)
  return [
    ...databases.map(({ id, name, energy_budget }) => ({
      id,
      title: `${name}, a database`,
      budget: energy_budget,
      set: (next: string | null) =>
        call('PATCH /v1/databases/:database', {
          path: { database: id },
          body: { energy_budget: next },
        }),
    })),
    ...tokens
      .filter(({ status }) => status === 'valid')
      .map(({ id, name, hint, energy_budget }) => ({
        id,
        title: `${name}, a token (${hint}…)`,
        budget: energy_budget,
        set: (next: string | null) =>
          withTouch(() =>
            call('PATCH /v1/tokens/:token', { path: { token: id }, body: { energy_budget: next } }),
          ),
      })),
  ]
}

export function SetBudget({ onClose }: { readonly onClose: () => void }) {
  const limited = useLimited()
  const [chosen, setChosen] = useState<string>()
  const [budget, setBudget] = useState<string>()
  const one = limited.find(({ id }) => id === chosen) ?? limited[0]
  const text = budget ?? typedBudget(one?.budget ?? null)
  const act = async () => {
    await one?.set(budgetOf(text))
    await changed('GET /v1/budgets', 'GET /v1/databases', 'GET /v1/tokens')
    onClose()
  }
  return (
    <FormDialog
      title="Set a budget"
      verb="Set it"
      isReady={one !== undefined}
      act={act}
      onClose={onClose}
    >
      <Select
        label="Of"
        value={one?.id ?? ''}
        options={limited.map(({ id, title }) => [id, title])}
        onChange={(id) => {
          setChosen(id)
          setBudget(undefined)
        }}
      />
      <BudgetField
        hint="It holds for today too. At the limit a token answers 429, and a database stops."
        value={text}
        onChange={setBudget}
      />
    </FormDialog>
  )
}
