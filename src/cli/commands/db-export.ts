// ergon db export: pg_dump on the database, into a file that is there whole or not at all.
import { textOption, type CommandCall } from '#cli/call.ts'
import { demandDone, findTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { wholeFile } from '#cli/whole-file.ts'

const FORMATS = ['custom', 'plain']

export async function run({ options, words: [name = '', file] }: CommandCall): Promise<void> {
  const format = textOption(options, 'format') ?? 'custom'
  if (!FORMATS.includes(format))
    throw new CommandError(`There is no format ${format}`, EXIT.usage, 'custom or plain')
  const tool = await findTool(options, 'pg_dump', (await connectionOf(options, name)).url)
  // Its roles are of this database alone.
  const words = ['--format', format, '--no-owner', '--no-privileges']
  if (file === undefined) return await demandDone(startTool(tool, words))
  await wholeFile(file, (path) => demandDone(startTool(tool, [...words, '--file', path])))
  tell(`${name} is in ${file}`)
}
