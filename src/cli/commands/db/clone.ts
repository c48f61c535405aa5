// ergon db clone: a restore of now.
import { textOption, type CommandCall } from '#cli/call.ts'
import { budgetOf } from '#cli/databases.ts'
import { makeFrom } from '#cli/restores.ts'

export function run({ options, words: [database = '', name = ''] }: CommandCall): Promise<void> {
  const budget = textOption(options, 'energyBudget')
  return makeFrom(options, {
    verb: 'clone',
    name,
    ...(budget !== undefined && { energy_budget: budgetOf(budget) }),
    from: { database },
  })
}
