// ergon db restore: a new database from the backups of another one.
import { textOption, type CommandCall } from '#cli/call.ts'
import { CommandError, EXIT } from '#cli/output.ts'
import { budgetOf } from '#cli/databases.ts'
import { makeFrom } from '#cli/restores.ts'

export async function run({ options, words: [database = ''] }: CommandCall): Promise<void> {
  const [name, backup, to, size, budget] = ['as', 'backup', 'to', 'size', 'energyBudget'].map(
    (option) => textOption(options, option),
  )
  if (name === undefined)
    throw new CommandError(
      'The new database needs a name; the other one stays as it is',
      EXIT.usage,
      `ergon db restore ${database} --as ${database.startsWith('db_') ? '<new name>' : `${database}-restored`}`,
    )
  await makeFrom(options, {
    verb: 'restore of',
    name,
    ...(size !== undefined && { size }),
    ...(budget !== undefined && { energy_budget: budgetOf(budget) }),
    from: {
      database,
      ...(backup !== undefined && { backup }),
      ...(to !== undefined && { time: timeOf(to) }),
    },
  })
}

/** A time in any form that has a zone, in that of the API. */
function timeOf(text: string): string {
  const ms = /(Z|[+-]\d\d:?\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new CommandError(
    `This is no time with its zone: ${text}`,
    EXIT.usage,
    'such as 2026-11-25T14:30:00Z or "2026-11-25 14:30:00 +0100"',
  )
}
