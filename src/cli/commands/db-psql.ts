// ergon db psql: the psql of this machine, on the database; on the machine of the service by its unix socket.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { textOption, type CommandCall } from '#cli/call.ts'
import { endOfTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { localRunFolder } from '#cli/profile.ts'
import { FIRST_PROXY_FOLDER, LOCAL_SOCKET } from '#contract/database-socket.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const command = textOption(options, 'command')
  const words = command === undefined ? [] : ['--command', command]
  const { url } = await connectionOf(options, name)
  const socketFolder = localSocketFolder(options)
  const psql = startTool('psql', words, { address: url, stdio: 'inherit', socketFolder })
  // Ctrl-C is for psql, which cancels a query by it: this command ends when psql does.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  process.exitCode = await endOfTool(psql)
  process.off('SIGINT', ignore)
}

/** The folder of the endpoint's unix socket, where this user can reach it. */
function localSocketFolder(options: CommandCall['options']): string | undefined {
  const runFolder = localRunFolder(options)
  const folder = runFolder === undefined ? undefined : join(runFolder, FIRST_PROXY_FOLDER)
  return folder !== undefined && existsSync(join(folder, LOCAL_SOCKET)) ? folder : undefined
}
