// ergon db export: the pg_dump of this machine, on the database.
import { textOption, type CommandCall } from '#cli/call.ts'
import { demandDone, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'

const FORMATS = ['custom', 'plain']

export async function run({ options, words: [name = '', file] }: CommandCall): Promise<void> {
  const format = textOption(options, 'format') ?? 'custom'
  if (!FORMATS.includes(format))
    throw new CommandError(`There is no format ${format}`, EXIT.usage, 'custom or plain')
  // Its roles are of this database alone.
  const words = ['--format', format, '--no-owner', '--no-privileges']
  const dump = startTool('pg_dump', file === undefined ? words : [...words, '--file', file], {
    address: (await connectionOf(options, name)).url,
    stdio: 'inherit',
  })
  await demandDone(dump)
  if (file !== undefined) tell(`${name} is in ${file}`)
}
