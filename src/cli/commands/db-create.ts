// ergon db create: asks for a database and waits until it is there.
import { sleep } from '#base/clock.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost } from '#cli/client.ts'
import { getDatabase, printDatabase } from '#cli/databases.ts'
import { CommandError, EXIT, printJson, tell, tellWork } from '#cli/output.ts'

const WAIT_MS = 120_000
const LOOK_MS = 200

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const [region, size] = [textOption(options, 'region'), textOption(options, 'size')]
  await apiPost(options, '/v1/databases', {
    name,
    ...(region !== undefined && { region }),
    ...(size !== undefined && { size }),
  })
  tellWork(`${name} is being made`)
  const lastMs = performance.now() + WAIT_MS
  let database = await getDatabase(options, name)
  while (database.status !== 'deployed') {
    if (database.status === 'failed')
      throw new CommandError(
        `Could not make ${name}: ${database.reason}`,
        EXIT.failed,
        `it is tried again every 15 seconds: ergon db show ${name}`,
      )
    if (performance.now() > lastMs)
      throw new CommandError(`${name} is not there yet`, EXIT.failed, `ergon db show ${name}`)
    await sleep(LOOK_MS)
    database = await getDatabase(options, name)
  }
  if (options.json) return printJson(database)
  printDatabase(database)
  tell(`Connect: ergon db psql ${name}, or with the address of: ergon db url ${name}`)
}
