// For tests of databases: a database of one's own, and programs that connect to it.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedInstall } from '#postgres/testing.ts'
import type { Ergon } from '../start-ergon.ts'

const run = promisify(execFile)
/** The long forms do forty times the work: 8,000 transactions took more than two minutes at a load of 23. */
const RUN_MAX_MS = process.env['ERGON_LONG'] === '1' ? 600_000 : 120_000
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024
/** Written at once by `copy`. */
const COPY_CHUNK_BYTES = 1_000_000

/** Makes a database by the command line; its connection string. */
export async function makeDatabase(ergon: Ergon, name: string): Promise<string> {
  const made = await ergon.cli('db', 'create', name)
  assert.equal(made.code, 0, made.stderr)
  const { stdout } = await ergon.cli('db', 'url', name)
  return stdout.trim()
}

/** The name of a database's cell. */
export const cellOf = (url: string): string => `db-${new URL(url).username.slice(2)}`

/** The connection string for programs that have no TLS, which the proxy asks only of other machines. */
export const withoutTls = (url: string): string => url.replace('sslmode=require', 'sslmode=disable')

/** The standard output of a program; rejects with its standard error when it fails. */
export async function output(
  program: string,
  words: readonly string[],
  { input = '', cwd, env = {} }: { input?: string; cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const running = run(program, words, {
    timeout: RUN_MAX_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  running.child.stdin?.on('error', () => undefined).end(input)
  return (await running).stdout
}

/** psql, pg_dump or pgbench of the release of the servers; they have no TLS. */
export async function ownProgram(name: 'psql' | 'pg_dump' | 'pgbench'): Promise<string> {
  const { clientTools } = await cachedInstall()
  assert.ok(clientTools !== undefined)
  return join(clientTools, name)
}

/** psql with a COPY; what it reads is written as fast as it takes it, what it writes is counted. */
export async function copy(url: URL, sql: string, inBytes: number): Promise<number> {
  const program = await ownProgram('psql')
  const child = spawn(
    program,
    ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', sql, withoutTls(url.href)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  let outBytes = 0
  child.stdout.on('data', (chunk: Buffer) => (outBytes += chunk.length))
  const ended = once(child, 'close') as Promise<[number]>
  child.stdin.on('error', () => undefined)
  const chunk = Buffer.from(`${'x'.repeat(999)}\n`.repeat(COPY_CHUNK_BYTES / 1000))
  for (let left = inBytes; left > 0; left -= chunk.length)
    if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
  child.stdin.end()
  assert.deepEqual((await ended)[0], 0)
  return outBytes
}
