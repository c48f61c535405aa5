// Runs `ergon storage` for tests: with a folder and a configuration of their own, against the Ergon of the test file.
// Most commands share a process; tests of a pipe, a signal or the end of a process have a process of their own.
import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { S3Client } from '@aws-sdk/client-s3'
import type { TransferSession } from '#cli/storage/session.ts'
import { createTally } from '#cli/storage/tally.ts'
import type { Outcome } from '../cli-process.ts'
import { sharedErgon } from '../product.ts'
import { compileCache } from '../ergon-cache.ts'

const PROGRAM = join(import.meta.dirname, '../../src/cli/ergon.mjs')
export const MIB = 1_048_576

export type Program = { readonly code: number; readonly stdout: Buffer; readonly stderr: string }

export type Cli = {
  /** A path in the folder of these tests. */
  readonly at: (...names: string[]) => string
  /** Runs `ergon storage …` in the process that all commands share. */
  readonly run: (words: readonly string[], token?: string) => Promise<Outcome>
  /** The same, which must end with 0. */
  readonly done: (...words: string[]) => Promise<Outcome>
  /** The output with --json. */
  readonly json: <T>(...words: string[]) => Promise<T>
  /** Runs it as a person does, as a process; its code must be that, 0 by default. */
  readonly program: (
    words: readonly string[],
    more?: { input?: Buffer; code?: number },
  ) => Promise<Program>
  /** Begins it as a process; its input is open. */
  readonly spawn: (
    words: readonly string[],
    token?: string,
  ) => ChildProcessByStdio<Writable, Readable, Readable>
  readonly close: () => void
}

/** To be closed after the tests. */
export function createCli(): Cli {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-storage-cli-'))
  const environment = (token = sharedErgon().token) => ({
    PATH: process.env['PATH'] ?? '',
    ERGON_TOKEN: token,
    XDG_CONFIG_HOME: folder,
    ...compileCache(),
  })
  const storage = (words: readonly string[]) => [
    '--data',
    sharedErgon().dataFolder,
    'storage',
    ...words,
  ]
  const run: Cli['run'] = (words, token) =>
    sharedErgon().commands.run({ words: storage(words), env: environment(token) })
  const done: Cli['done'] = async (...words) => {
    const outcome = await run(words)
    assert.equal(outcome.code, 0, outcome.stderr)
    return outcome
  }
  const begin: Cli['spawn'] = (words, token) =>
    spawn(process.execPath, [PROGRAM, ...storage(words)], {
      env: environment(token),
      stdio: 'pipe',
    })
  return {
    at: (...names) => join(folder, ...names),
    run,
    done,
    json: async (...words) => JSON.parse((await done(...words, '--json')).stdout),
    async program(words, { input = Buffer.alloc(0), code = 0 } = {}) {
      const child = begin(words)
      child.stdin.end(input)
      const ended = once(child, 'close')
      const [stdout, stderr] = await Promise.all([buffer(child.stdout), text(child.stderr)])
      assert.deepEqual(await ended, [code, null], stderr)
      return { code, stdout, stderr }
    },
    spawn: begin,
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The session of a command, for tests that call its parts. */
export function sessionOf(s3: S3Client): TransferSession {
  const stopping = new AbortController()
  const stop = (reason: unknown) => stopping.abort(reason)
  return { s3, tally: createTally(), signal: stopping.signal, stop }
}
