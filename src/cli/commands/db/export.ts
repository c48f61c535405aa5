// ergon db export: pg_dump on the database, into a file that is there whole or not at all.
import { statSync } from 'node:fs'
import { textOption, type CommandCall } from '#cli/call.ts'
import { demandDone, findTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { nearestAddress } from '#cli/nearest-address.ts'
import { CommandError, EXIT, tell, withProgressBar } from '#cli/output.ts'
import { wholeFile } from '#cli/whole-file.ts'

const LOOK_MS = 250
const FORMATS = ['custom', 'plain']

export async function run({ options, words: [name = '', file] }: CommandCall): Promise<void> {
  const format = textOption(options, 'format') ?? 'custom'
  if (!FORMATS.includes(format))
    throw new CommandError(`There is no format ${format}`, EXIT.usage, 'custom or plain')
  const { url } = await connectionOf(options, name)
  const tool = await findTool(options, 'pg_dump', nearestAddress(options, url))
  // Its roles are of this database alone.
  const words = ['--format', format, '--no-owner', '--no-privileges']
  if (file === undefined) return await demandDone(startTool(tool, words))
  await wholeFile(file, (path) =>
    withProgressBar(async (bar) => {
      const look = setInterval(() => {
        const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
        // Nobody knows the size of a dump before its end.
        bar.show(`export of ${name}`, bytes, undefined)
      }, LOOK_MS)
      try {
        await demandDone(startTool(tool, [...words, '--file', path]))
      } finally {
        clearInterval(look)
      }
    }, options),
  )
  tell(`${name} is in ${file}`)
}
