// ergon db import: a dump of this machine, or another database that this machine can reach, into a database. The
// service itself connects to no address that anybody gives.
import { open } from 'node:fs/promises'
import type { CommandCall } from '#cli/call.ts'
import { demandDone, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'

const NO_OWNER = ['--no-owner', '--no-privileges']
/** Of a dump in the format custom. */
const MAGIC = 'PGDMP'
/** All or nothing. */
const PSQL = [
  '--no-psqlrc',
  '--quiet',
  '--single-transaction',
  '--set',
  'ON_ERROR_STOP=1',
  '--output',
  '/dev/null',
]

export async function run({
  options,
  words: [name = '', source = ''],
}: CommandCall): Promise<void> {
  const target = (await connectionOf(options, name)).url
  if (/^postgres(ql)?:\/\//.test(source)) await pull(source, target)
  else if (await isCustom(source))
    await demandDone(
      startTool('pg_restore', [...NO_OWNER, '--single-transaction', '--dbname', '', source], {
        address: target,
        stdio: 'inherit',
      }),
    )
  else
    await demandDone(
      startTool('psql', [...PSQL, '--file', source], { address: target, stdio: 'inherit' }),
    )
  tell(`${name} has everything of the import`)
}

async function pull(source: string, target: string): Promise<void> {
  const dump = startTool('pg_dump', ['--format', 'plain', ...NO_OWNER], {
    address: source,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const psql = startTool('psql', PSQL, { address: target, stdio: ['pipe', 'inherit', 'inherit'] })
  const [from, into] = [dump.process.stdout, psql.process.stdin]
  if (from === null || into === null) return
  into.on('error', () => dump.process.kill())
  from.on('data', (bytes: Buffer) => {
    if (into.write(bytes)) return
    from.pause()
    into.once('drain', () => from.resume())
  })
  // psql commits at the end of its input: it hears of the end only where the dump is whole.
  await demandDone(dump).catch((error: unknown) => {
    psql.process.kill('SIGKILL')
    throw error
  })
  into.end()
  await demandDone(psql)
}

async function isCustom(path: string): Promise<boolean> {
  const file = await open(path).catch((error: unknown) => {
    throw new CommandError(`Could not read ${path}: ${(error as Error).message}`, EXIT.failed)
  })
  try {
    const head = Buffer.alloc(MAGIC.length)
    await file.read(head, 0, head.length, 0)
    return head.toString('latin1') === MAGIC
  } finally {
    await file.close()
  }
}
