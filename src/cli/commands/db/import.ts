// ergon db import: a dump of this machine, or another database that this machine can reach, into a database. The
// service itself connects to no address that anybody gives.
import { realpathSync, statSync } from 'node:fs'
import type { CommandCall } from '#cli/call.ts'
import { demandDone, findTool, startTool } from '#cli/client-tools.ts'
import { connectionOf } from '#cli/databases.ts'
import { dumpKind } from '#cli/dump-file.ts'
import { nearestAddress } from '#cli/nearest-address.ts'
import { tell, withProgressBar } from '#cli/output.ts'
import type { GlobalOptions } from '#cli/profile.ts'
import { readPositionOf } from '#cli/read-position.ts'

const LOOK_MS = 250
const NO_OWNER = ['--no-owner', '--no-privileges']
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
  const { url } = await connectionOf(options, name)
  const address = nearestAddress(options, url)
  const isAddress = /^postgres(ql)?:\/\//.test(source)
  // Another database of the same service is as near.
  const from = isAddress && areOfOneServer(source, url) ? nearestAddress(options, source) : source
  await withProgressBar(async (bar) => {
    const show = (bytes: number, of?: number) => bar.show(`import into ${name}`, bytes, of)
    if (!isAddress) return await readFile(options, source, address, show)
    let bytes = 0
    await pull(options, from, address, (more) => show((bytes += more)))
  }, options)
  tell(`${name} has everything of the import`)
}

/** Parameters of a connection string that the socket makes needless. All others are those of the user. */
const OF_TLS = new Set(['sslmode', 'sslrootcert', 'channel_binding', 'uselibpqcompat'])

function areOfOneServer(one: string, other: string): boolean {
  const url = URL.canParse(one) ? new URL(one) : undefined
  return (
    url?.host === new URL(other).host && url.searchParams.keys().every((name) => OF_TLS.has(name))
  )
}

/** From a file; `show` hears the bytes of it that are read, and of how many. */
async function readFile(
  options: GlobalOptions,
  source: string,
  target: string,
  show: (bytes: number, of: number) => void,
): Promise<void> {
  const [program, words] =
    (await dumpKind(source)) === 'archive'
      ? (['pg_restore', [...NO_OWNER, '--single-transaction', source]] as const)
      : (['psql', [...PSQL, '--file', source]] as const)
  const tool = await findTool(options, program, target)
  const [path, { size }] = [realpathSync(source), statSync(source)]
  const running = startTool(tool, words)
  let most = 0
  const look = setInterval(() => {
    // pg_restore also goes back in a file.
    most = Math.max(most, readPositionOf(running.process.pid ?? 0, path) ?? 0)
    // The last bytes are not done while the program is at work on them.
    if (most < size) show(most, size)
  }, LOOK_MS)
  try {
    await demandDone(running)
  } finally {
    clearInterval(look)
  }
  show(size, size)
}

/** Copies one database into another; `moved` hears the bytes of each part of the dump. */
async function pull(
  options: GlobalOptions,
  source: string,
  target: string,
  moved: (bytes: number) => void,
): Promise<void> {
  // Both are found before one of them starts.
  const tools = [
    await findTool(options, 'pg_dump', source),
    await findTool(options, 'psql', target),
  ] as const
  const dump = startTool(
    tools[0],
    ['--format', 'plain', ...NO_OWNER],
    ['ignore', 'pipe', 'inherit'],
  )
  const psql = startTool(tools[1], PSQL, ['pipe', 'inherit', 'inherit'])
  const [from, into] = [dump.process.stdout, psql.process.stdin]
  if (from === null || into === null) return
  const written = demandDone(psql)
  written.catch(() => undefined)
  let isRefused = false
  into.on('error', () => undefined)
  // At its end, and not at an error of the pipe: Node.js may close the pipe before a write fails.
  psql.process.once('exit', () => {
    isRefused = true
    // SIGTERM is worth a line of pg_dump, which hides why psql has ended.
    dump.process.kill('SIGKILL')
    // Unread bytes would keep the dump from its end.
    from.destroy()
  })
  from.on('data', (bytes: Buffer) => {
    moved(bytes.length)
    if (into.write(bytes)) return
    from.pause()
    into.once('drain', () => from.resume())
  })
  // psql commits at the end of its input: it hears of the end only where the dump is whole.
  await demandDone(dump).catch((error: unknown) => {
    if (isRefused) return
    psql.process.kill('SIGKILL')
    throw error
  })
  into.end()
  await written
}
