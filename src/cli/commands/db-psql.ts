// ergon db psql: the psql of this machine, on the database. The address is in its environment, as every user of the
// machine can read the arguments of a process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { textOption, type CommandCall } from '#cli/call.ts'
import { connectionOf } from '#cli/databases.ts'
import { environmentWith } from '#cli/environment.ts'
import { CommandError, EXIT } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(
    (await connectionOf(options, name)).url,
  )
  const command = textOption(options, 'command')
  const psql = spawn('psql', command === undefined ? [] : ['--command', command], {
    stdio: 'inherit',
    env: environmentWith({
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: pathname.slice(1),
      PGSSLMODE: 'require',
    }),
  })
  // Ctrl-C is for psql, which cancels a query by it: this command ends when psql does.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  const [code] = (await once(psql, 'exit').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new CommandError(
          'There is no psql on this machine',
          EXIT.failed,
          `install PostgreSQL's client programs, or use the address of: ergon db url ${name}`,
        )
      : error
  })) as [number | null]
  process.off('SIGINT', ignore)
  process.exitCode = code ?? EXIT.failed
}
