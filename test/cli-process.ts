// The command line for tests that run many of its commands: one process for all of them, one after another.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, 'cli-program.ts')

export type Asked = {
  readonly words: readonly string[]
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>
}
export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string }

export type CliProcess = {
  /** Runs a command after those before it; rejects when the process ends instead. */
  run(asked: Asked): Promise<Outcome>
  close(): void
}

type Running = { readonly child: ChildProcess; readonly ended: Promise<never> }

/** Starts with its first command; to be closed. */
export function createCliProcess(): CliProcess {
  let running: Running | undefined
  let last: Promise<unknown> = Promise.resolve()
  async function ask(asked: Asked): Promise<Outcome> {
    const { child, ended } = (running ??= start())
    const answered = once(child, 'message')
    child.send(asked)
    const [outcome] = await Promise.race([answered, ended])
    return outcome as Outcome
  }
  return {
    run: (asked) => {
      const answer = last.then(() => ask(asked))
      last = answer.catch(() => undefined)
      return answer
    },
    close: () => running?.child.disconnect(),
  }
}

function start(): Running {
  const child = fork(PROGRAM, { execArgv: [] })
  const ended = once(child, 'exit').then(([code, signal]): never => {
    throw new Error(`The process of the command line has ended with ${code ?? signal}`)
  })
  ended.catch(() => undefined)
  return { child, ended }
}
