// The most energy that something may use on a day of UTC, as a person types it.
import { Field } from './field.tsx'

/** The budget of the API; none when nothing is typed. */
export const budgetOf = (typed: string): string | null =>
  typed.trim() === '' ? null : `${typed.trim()}/day`

/** As a person types the budget of the API. */
export const typedBudget = (budget: string | null): string => budget?.replace('/day', '') ?? ''

export const BudgetField = (props: {
  readonly label?: string
  readonly hint: string
  readonly value: string
  readonly onChange: (typed: string) => void
}) => (
  <Field
    label={props.label ?? 'Most that it may use a day'}
    name="energy_budget"
    placeholder="500 J, 5 kJ; empty: no limit"
    hint={props.hint}
    value={props.value}
    onChange={({ target }) => props.onChange(target.value)}
  />
)
