// ergon db psql: the psql of this machine, on the database.
import { textOption, type CommandCall } from '#cli/call.ts'
import { endOfTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const command = textOption(options, 'command')
  const words = command === undefined ? [] : ['--command', command]
  const { url } = await connectionOf(options, name)
  const psql = startTool('psql', words, { address: url, stdio: 'inherit' })
  // Ctrl-C is for psql, which cancels a query by it: this command ends when psql does.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  process.exitCode = await endOfTool(psql)
  process.off('SIGINT', ignore)
}
