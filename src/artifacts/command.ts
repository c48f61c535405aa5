// Runs a short-lived tool to its end, with limits on its time and on the kept part of its output.
import { spawn } from 'node:child_process'

import { artifactFault, errnoOf } from './faults.ts'

const KEPT_OUTPUT_BYTES = 64 * 1024
const GRACE_MS = 3000

export type CommandOptions = {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly cwd?: string
  /** The whole environment; the parent's when absent. */
  readonly environment?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
  /** SIGKILL when we are killed: for tools that would otherwise load or write for minutes. */
  readonly dieWithParent?: boolean
  /** Gets the words of stdout as they come. */
  readonly onOutput?: (text: string) => void
}

/** The result of a command: the last 64 KiB of each output. `code` is null when a signal ended the command. */
export type CommandResult = {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a command. Throws artifact_tool_missing when there is no such program and artifact_interrupted
 * when the signal or the time limit ended it (SIGTERM, after 3 s SIGKILL); another exit is a result.
 */
export function runTool(
  argv: readonly [string, ...string[]],
  options: CommandOptions,
): Promise<CommandResult> {
  const limit = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)])
  const program = argv[0]
  const [file = program, ...args] =
    options.dieWithParent === true ? ['setpriv', '--pdeathsig', 'KILL', '--', ...argv] : argv
  return new Promise((resolve, reject) => {
    if (limit.aborted) return reject(interrupted(program, limit))
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.environment !== undefined && { env: options.environment }),
      ...(options.uid !== undefined && { uid: options.uid }),
      ...(options.gid !== undefined && { gid: options.gid }),
    })
    const stdout = tail()
    const stderr = tail()
    child.stdout.on('data', (chunk: Buffer) => {
      stdout.add(chunk)
      options.onOutput?.(chunk.toString('utf8'))
    })
    child.stderr.on('data', stderr.add)
    let killer: NodeJS.Timeout | undefined
    const stop = () => {
      child.kill('SIGTERM')
      killer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
    }
    limit.addEventListener('abort', stop, { once: true })
    const settle = () => {
      limit.removeEventListener('abort', stop)
      clearTimeout(killer)
    }
    child.once('error', (error) => {
      settle()
      reject(
        errnoOf(error) === 'ENOENT'
          ? artifactFault('artifact_tool_missing', `Not installed on this machine: ${file}`, error)
          : error,
      )
    })
    // A grandchild may hold the pipes open for ever: then 'close' never comes, 'exit' does.
    child.once('exit', () => {
      if (limit.aborted) reject(interrupted(program, limit))
    })
    child.once('close', (code) => {
      settle()
      if (limit.aborted) return reject(interrupted(program, limit))
      resolve({ code, stdout: stdout.text(), stderr: stderr.text() })
    })
  })
}

const interrupted = (program: string, limit: AbortSignal) =>
  artifactFault('artifact_interrupted', `${program} was stopped before its end`, limit.reason)

function tail() {
  let kept = Buffer.alloc(0)
  return {
    add: (chunk: Buffer) => {
      kept = Buffer.concat([kept, chunk]).subarray(-KEPT_OUTPUT_BYTES)
    },
    text: () => kept.toString('utf8'),
  }
}
