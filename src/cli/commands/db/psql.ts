// ergon db psql: the psql of this machine, on the database; on the machine of the service by its unix socket.
import { textOption, type CommandCall } from '#cli/call.ts'
import { endOfTool, findTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { nearestAddress } from '#cli/nearest-address.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const command = textOption(options, 'command')
  const words = command === undefined ? [] : ['--command', command]
  const { url } = await connectionOf(options, name)
  const psql = startTool(await findTool(options, 'psql', nearestAddress(options, url)), words)
  process.exitCode = await endOfTool(psql)
}
