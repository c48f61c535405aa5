// Files of dumps: what their bytes are, before a program reads them into a database.
import { createReadStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { CommandError, EXIT } from './output.ts'

/** The first bytes of pg_dump's formats custom and tar: pg_restore knows them apart. */
const ARCHIVE = /^(PGDMP|toc\.dat\0)/
const HEAD_BYTES = 4096
const TAIL_BYTES = 512
const PLAIN_HEAD = '-- PostgreSQL database dump\n'
const PLAIN_TAIL = '-- PostgreSQL database dump complete\n'
const BLANK_OR_COMMENT = /^\s*(--.*)?$/

/** Which program reads a file. Throws a CommandError for a file that is none, has nothing, or was cut short. */
export async function dumpKind(path: string): Promise<'archive' | 'sql'> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (path === '-' || (stat !== undefined && !stat.isFile() && !stat.isDirectory()))
    throw notAFile(path)
  const { head, tail } = await endsOf(path)
  if (ARCHIVE.test(head)) return 'archive'
  const refuse = (what: string) =>
    new CommandError(
      `Could not import ${path}: ${what}`,
      EXIT.failed,
      'a file of ergon db export, of pg_dump (custom, tar or plain), or of SQL',
    )
  if (head === '') throw refuse('the file is empty')
  if (head.includes('\0')) throw refuse('its format is unknown')
  if (head.includes(PLAIN_HEAD) && !tail.includes(PLAIN_TAIL)) throw refuse('the dump has no end')
  if (!(await hasStatement(path))) throw refuse('it has no statement')
  return 'sql'
}

/** A pipe has no end to look at before its dump is imported. */
const notAFile = (path: string) =>
  new CommandError(
    `Could not import ${path}: it is a pipe, and a dump is read whole before anything is changed`,
    EXIT.failed,
    'a file: ergon db export a a.dump, then ergon db import b a.dump; or another database by its address: ergon db import b "$(ergon db url a)"',
  )

async function endsOf(path: string): Promise<{ readonly head: string; readonly tail: string }> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const read = async (bytes: number, from: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, from)
      return buffer.toString('latin1', 0, bytesRead)
    }
    return {
      head: await read(HEAD_BYTES, 0),
      tail: await read(TAIL_BYTES, Math.max(0, size - TAIL_BYTES)),
    }
  } catch (error) {
    throw new CommandError(`Could not read ${path}: ${(error as Error).message}`, EXIT.failed)
  }
}

async function hasStatement(path: string): Promise<boolean> {
  using lines = createInterface({ input: createReadStream(path) })
  for await (const line of lines) if (!BLANK_OR_COMMENT.test(line)) return true
  return false
}
