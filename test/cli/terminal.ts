// A command on a terminal of its own, made by script(1) of util-linux: what a person reads, and the keys that are pressed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { PROGRAM } from './command-line.ts'

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'
const WAIT_MS = 60_000

export type Terminal = AsyncDisposable & {
  /** Everything that the terminal was sent so far. */
  text(): string
  /** Resolves once the text holds it. */
  shows(wanted: RegExp): Promise<void>
  press(keys: string): void
  /** The exit code of the command. */
  ended(): Promise<number>
}

/** Runs `ergon …` on a terminal of 24 lines. The words have no space and no quote in them. */
export function openTerminal(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  columns = 80,
): Terminal {
  const command = `stty rows 24 columns ${columns}; exec ${process.execPath} ${PROGRAM} ${words.join(' ')}`
  // -e: the exit code of the command, -q: no words of script's own.
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more))
  return {
    text: () => text,
    async shows(wanted) {
      const lastMs = performance.now() + WAIT_MS
      while (!wanted.test(text)) {
        if (performance.now() > lastMs || child.exitCode !== null)
          throw new Error(`The terminal does not show ${wanted}: ${JSON.stringify(text)}`)
        await pause(50)
      }
    },
    press: (keys) => void child.stdin.write(keys),
    async ended() {
      const [code] = (await exit) as [number | null]
      return code ?? 1
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGHUP')
      await exit
    },
  }
}
