// Sets or removes the budget of a database or a token.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../client/call.ts'
import { changed, read, readPages, rowsOf } from '../../client/queries.ts'
import { Select } from '../../parts/choices.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'

/** Something that can have a budget; the words of its budget now, empty without one. */
type Limited = {
  readonly id: string
  readonly title: string
  readonly budget: string
  readonly set: (energy_budget: string | null) => Promise<unknown>
}

function useLimited(): readonly Limited[] {
  const databases = useQuery(read('GET /v1/databases', {})).data?.data ?? []
  const tokens = rowsOf(useInfiniteQuery(readPages('GET /v1/tokens', {})).data)
  return [
    ...databases.map(({ id, name, energy_budget }) => ({
      id,
      title: `${name}, a database`,
      budget: energy_budget ?? '',
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
        budget: energy_budget ?? '',
        set: (next: string | null) =>
          call('PATCH /v1/tokens/:token', { path: { token: id }, body: { energy_budget: next } }),
      })),
  ]
}

export function SetBudget({ onClose }: { readonly onClose: () => void }) {
  const limited = useLimited()
  const [chosen, setChosen] = useState<string>()
  const [budget, setBudget] = useState<string>()
  const one = limited.find(({ id }) => id === chosen) ?? limited[0]
  const text = budget ?? one?.budget.replace('/day', '') ?? ''
  const action = useAction(async () => {
    await one?.set(text.trim() === '' ? null : `${text.trim()}/day`)
    await changed('GET /v1/budgets', 'GET /v1/databases', 'GET /v1/tokens')
    onClose()
  })
  return (
    <Dialog title="Set a budget" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
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
        <Field
          label="Most that it may use a day"
          name="energy_budget"
          placeholder="500 J, 2 kJ; empty: no limit"
          hint="It holds for today too. At the limit a token answers 429, and a database stops."
          value={text}
          error={action.error}
          onChange={({ target }) => setBudget(target.value)}
        />
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button
            type="submit"
            className="btn primary"
            disabled={action.isBusy || one === undefined}
          >
            Set it
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
