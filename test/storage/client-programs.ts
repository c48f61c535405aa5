// Clients that are programs of their own: where they are, and a run of one with keys and a home of its own.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Ergon } from '../start-ergon.ts'

const folders = (process.env['PATH'] ?? '').split(delimiter)

/** Why a test of the program is skipped; false where it is not. */
export const missing = (program: string): string | false =>
  folders.some((folder) => existsSync(join(folder, program)))
    ? false
    : `${program} is not installed`

/** The same of a module of the Python that there is. */
export const missingModule = (name: string): string | false =>
  spawnSync('python3', ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0
    ? false
    : `python3 has no ${name}`

/** The standard output of a client; rejects with all its output when it fails. */
export async function runClient(
  { token }: Pick<Ergon, 'token'>,
  program: string,
  words: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      AWS_ACCESS_KEY_ID: token,
      AWS_SECRET_ACCESS_KEY: token,
      AWS_DEFAULT_REGION: 'local',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...env,
    },
  })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(await code, 0, `${program} ${words.join(' ')}\n${err}${out}`)
  return out
}
