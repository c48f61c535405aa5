// The state of an energy budget in a word. Figures of the live stream are newer than the state that the list has.
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import type { ResourceState } from './resource-state.ts'

type Listed = Pick<ReplyOf<'GET /v1/budgets'>['data'][number], 'state' | 'used_nj' | 'budget_nj'>
export type BudgetNow = {
  readonly used: bigint
  readonly most: bigint
  /** The limited resource is suspended. */
  readonly isSuspended: boolean
}

export function budgetState(listed: Listed, { used, most, isSuspended }: BudgetNow): ResourceState {
  // A new day, or a larger budget, ends the state that was read.
  const isRenewed = used < BigInt(listed.used_nj) || most > BigInt(listed.budget_nj)
  // With less than the least hold nothing is admitted.
  if (most - used < LEAST_HOLD_NJ || (listed.state === 'exceeded' && !isRenewed))
    return { tone: 'bad', word: `${isSuspended ? 'Frozen' : 'Used up'} until 00:00 UTC` }
  if (used * 5n >= most * 4n) return { tone: 'warn', word: 'Near its end' }
  return { tone: 'ok', word: 'Within' }
}
