// How the tests of `ergon storage` run it: the real program in a process of its own, with a folder and a
// configuration of its own, against the Ergon of the test file.
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Session } from '#cli/storage/session.ts'
import { createTally } from '#cli/storage/tally.ts'
import { sharedErgon } from '../parts.ts'
import { compileCache } from '../start-ergon.ts'

const PROGRAM = join(import.meta.dirname, '../../src/cli/ergon.mjs')
export const MIB = 1_048_576

export type Run = { readonly code: number; readonly stdout: Buffer; readonly stderr: string }

export type Cli = {
  /** A path in the folder of these tests. */
  readonly at: (...names: string[]) => string
  /** Runs `ergon storage …`. */
  readonly run: (
    words: readonly string[],
    more?: { token?: string; input?: Buffer },
  ) => Promise<Run>
  /** The same, which must end with 0. */
  readonly done: (...words: string[]) => Promise<Run>
  /** The exit codes of commands that print nothing, run in one process: each alone takes 0.3 s of CPU. */
  readonly codesOf: (commands: readonly (readonly string[])[]) => Promise<number[]>
  /** What it prints with --json. */
  readonly json: <T>(...words: string[]) => Promise<T>
  /** Begins it; its input is open. */
  readonly spawn: (words: readonly string[]) => ChildProcessByStdio<Writable, null, Readable>
  readonly close: () => void
}

const ONE_AFTER_ANOTHER = `
  import { run } from ${JSON.stringify(import.meta.resolve('../../src/cli/program.ts'))}
  const codes = []
  for (const words of JSON.parse(process.argv[1])) {
    process.exitCode = 0
    await run([process.execPath, ...words])
    codes.push(process.exitCode)
  }
  process.exitCode = 0
  console.log(JSON.stringify(codes))`

/** To be closed after the tests. */
export function createCli(): Cli {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-storage-cli-'))
  const environment = (token: string) => ({
    PATH: process.env['PATH'] ?? '',
    ERGON_TOKEN: token,
    XDG_CONFIG_HOME: folder,
    ...compileCache(),
  })
  const argumentsOf = (words: readonly string[]) => [
    PROGRAM,
    '--data',
    sharedErgon().dataFolder,
    'storage',
    ...words,
  ]
  const run: Cli['run'] = (words, { token = sharedErgon().token, input = Buffer.alloc(0) } = {}) =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        argumentsOf(words),
        { env: environment(token), timeout: 60_000, encoding: 'buffer', maxBuffer: 32 * MIB },
        (error, stdout, stderr) =>
          resolve({
            code: error === null ? 0 : Number(error.code ?? 1),
            stdout,
            stderr: stderr.toString(),
          }),
      )
      child.stdin?.end(input)
    })
  const done: Cli['done'] = async (...words) => {
    const outcome = await run(words)
    assert.equal(outcome.code, 0, outcome.stderr)
    return outcome
  }
  const codesOf: Cli['codesOf'] = async (commands) => {
    const all = JSON.stringify(commands.map(argumentsOf))
    const args = ['--input-type=module', '-e', ONE_AFTER_ANOTHER, all]
    const env = environment(sharedErgon().token)
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 })
    return JSON.parse(stdout) as number[]
  }
  return {
    codesOf,
    at: (...names) => join(folder, ...names),
    run,
    done,
    json: async (...words) => JSON.parse((await done(...words, '--json')).stdout.toString()),
    spawn: (words) =>
      spawn(process.execPath, argumentsOf(words), {
        env: environment(sharedErgon().token),
        stdio: ['pipe', 'ignore', 'pipe'],
      }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What a command's parts are given, for tests that call them. */
export function sessionOf(s3: S3Client): Session {
  const stopping = new AbortController()
  const stop = (reason: unknown) => stopping.abort(reason)
  return { s3, tally: createTally(), signal: stopping.signal, stop }
}
