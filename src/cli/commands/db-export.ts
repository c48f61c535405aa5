// ergon db export: pg_dump on the database, into a file that is there whole or not at all.
import { realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { textOption, type CommandCall } from '#cli/call.ts'
import { demandDone, findTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'

const FORMATS = ['custom', 'plain']

export async function run({ options, words: [name = '', file] }: CommandCall): Promise<void> {
  const format = textOption(options, 'format') ?? 'custom'
  if (!FORMATS.includes(format))
    throw new CommandError(`There is no format ${format}`, EXIT.usage, 'custom or plain')
  const tool = await findTool(options, 'pg_dump', (await connectionOf(options, name)).url)
  // Its roles are of this database alone.
  const words = ['--format', format, '--no-owner', '--no-privileges']
  if (file === undefined) return await demandDone(startTool(tool, words))
  await whole(file, (path) => demandDone(startTool(tool, [...words, '--file', path])))
  tell(`${name} is in ${file}`)
}

/** Lets a file be written beside its place, and puts it there once it is whole. */
async function whole(file: string, write: (path: string) => Promise<void>): Promise<void> {
  const there = statSync(file, { throwIfNoEntry: false })
  // A pipe, or /dev/null.
  if (there !== undefined && !there.isFile()) return await write(file)
  const place = there === undefined ? file : realpathSync(file)
  const beside = `${place}.part-${process.pid}`
  try {
    await write(beside)
    renameSync(beside, place)
  } finally {
    rmSync(beside, { force: true })
  }
}
