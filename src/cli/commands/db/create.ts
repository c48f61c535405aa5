// ergon db create: asks for a database and waits until it is there.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost } from '#cli/client.ts'
import { printDatabase, waitForStatus } from '#cli/databases.ts'
import { printJson, tell, tellWork } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const [region, size] = [textOption(options, 'region'), textOption(options, 'size')]
  const budget = textOption(options, 'energyBudget')
  await apiPost(options, '/v1/databases', {
    name,
    ...(region !== undefined && { region }),
    ...(size !== undefined && { size }),
    ...(budget !== undefined && { energy_budget: budget }),
  })
  tellWork(`${name} is being made`)
  const database = await waitForStatus(options, name, 'deployed')
  if (options.json) return printJson(database)
  printDatabase(database)
  if (database.vector_version === null)
    tell(
      'There is no pgvector on this machine: the operator installs it by npm start -- --pg-upgrade, or beside a PostgreSQL of their own (ERGON_PG_BIN) by its package, postgresql-16-pgvector on Debian',
    )
  tell(`Connect: ergon db psql ${name}; for another client: ergon db url ${name}`)
}
