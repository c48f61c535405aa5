// The command line as a person uses it, against the shared product.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Outcome } from '../cli-process.ts'
import { sharedErgon } from '../product.ts'

export const PROGRAM = join(import.meta.dirname, '../../src/cli/ergon.mjs')

/** Runs `ergon` with a folder of its own for its configuration, which goes after the tests. */
export function commandLine() {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-cli-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  const envWith = (env: Record<string, string> = {}) => ({
    PATH: process.env['PATH'] ?? '',
    ERGON_TOKEN: sharedErgon().token,
    XDG_CONFIG_HOME: folder,
    ...env,
  })

  /** Runs `ergon …`, in the process that all commands of the product share; `env` replaces the token and the folder. */
  const run = (words: readonly string[], options: { env?: Record<string, string> } = {}) =>
    sharedErgon().commands.run({
      words: ['--data', sharedErgon().dataFolder, ...words],
      env: envWith(options.env),
    })

  /**
   * Runs `ergon …` as a process of its own, with `input` on its standard input. After `linesMax` lines of output the
   * command gets a SIGTERM.
   */
  const runAlone = (
    words: readonly string[],
    options: { env?: Record<string, string>; input?: string; linesMax?: number } = {},
  ): Promise<Outcome> =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [PROGRAM, '--data', sharedErgon().dataFolder, ...words],
        { env: envWith(options.env), timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      )
      child.stdin?.end(options.input ?? '')
      let lines = 0
      child.stdout?.on('data', (text: string) => {
        lines += text.split('\n').length - 1
        if (lines >= (options.linesMax ?? Infinity)) child.kill('SIGTERM')
      })
    })

  const json = async (words: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await run([...words, '--json'])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

  return { folder, run, runAlone, json }
}
