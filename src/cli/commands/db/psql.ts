// ergon db psql: the psql of this machine, on the database; on the machine of the service by its unix socket.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { textOption, type CommandCall } from '#cli/call.ts'
import { endOfTool, findTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { localRunFolder } from '#cli/profile.ts'
import { FIRST_PROXY_FOLDER, LOCAL_SOCKET } from '#contract/databases/database-socket.ts'

/** A part of the socket's name. */
const SOCKET_PORT = 5432

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const command = textOption(options, 'command')
  const words = command === undefined ? [] : ['--command', command]
  const { url } = await connectionOf(options, name)
  const psql = startTool(await findTool(options, 'psql', bySocket(options, url)), words)
  process.exitCode = await endOfTool(psql)
}

/** The connection string by the endpoint's unix socket, where this user can reach it. */
function bySocket(options: CommandCall['options'], url: string): string {
  const runFolder = localRunFolder(options)
  if (runFolder === undefined) return url
  const folder = join(runFolder, FIRST_PROXY_FOLDER)
  if (!existsSync(join(folder, LOCAL_SOCKET))) return url
  const address = new URL(url)
  address.hostname = 'localhost'
  // To libpq these are the host and the port.
  address.search = `host=${encodeURIComponent(folder)}&port=${SOCKET_PORT}`
  return address.href
}
