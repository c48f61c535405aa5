// Faults at system calls of a running process, by strace(1): a kill or an error at the n-th call of a name.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const ATTACH_MAX_MS = 60_000
const DETACH_MAX_MS = 10_000
const PTRACE_SCOPE = '/proc/sys/kernel/yama/ptrace_scope'

export type Injection = {
  /** Names of system calls, by comma. */
  readonly calls: string
  /** The fault that strace injects: `signal=SIGKILL`, `error=EIO`. */
  readonly fault: string
  /** The n-th call of each thread. */
  readonly when: number
  /** Also of threads and processes that are there later or are started; not of those of PostgreSQL. */
  readonly follow: boolean
}

export type Trace = {
  /** True after a kill. */
  killed(): boolean
  /** Detaches from what still runs; the lines in which something was injected. */
  end(): Promise<string[]>
}

/** Why nothing can be injected here; to skip with. */
export function whyNoStrace(): string | false {
  const trial = ['-o', '/dev/null', '-e', 'inject=fsync:error=EIO', 'true']
  const { error, status, stderr } = spawnSync('strace', trial, { encoding: 'utf8' })
  if (error !== undefined) return 'strace is not installed'
  if (status !== 0) return `strace cannot trace here: ${stderr.trim()}`
  const isLimited = existsSync(PTRACE_SCOPE) && readFileSync(PTRACE_SCOPE, 'utf8').trim() !== '0'
  return isLimited && process.geteuid?.() !== 0
    ? `strace may not attach here: ${PTRACE_SCOPE} is not 0`
    : false
}

/** Attaches to all threads of processes; resolves when the next call is seen. */
export async function inject(pids: readonly number[], injection: Injection): Promise<Trace> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-strace-'))
  const log = join(folder, 'log')
  const { calls, fault, when, follow } = injection
  const child = spawn(
    'strace',
    [
      ...(follow ? ['-f'] : []),
      ...pids.flatMap((pid) => ['-p', String(pid)]),
      ...`-y -s 0 -e trace=${calls} -e inject=${calls}:${fault}:when=${when} -o`.split(' '),
      log,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(child, 'close')
  let said = ''
  let attached = 0
  const late = setTimeout(() => child.kill('SIGKILL'), ATTACH_MAX_MS)
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      said += `${line}\n`
      if (/Process \d+ attached/.test(line) && ++attached === pids.length) resolve()
    })
    void ended.then(() => reject(new Error(`strace did not attach: ${said}`)))
  }).finally(() => clearTimeout(late))
  const injected = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('(INJECTED)') || line.includes('killed by SIGKILL'))
  const isKilled = () => injected().some((line) => line.includes('killed by SIGKILL'))
  async function detach(): Promise<string[]> {
    // SIGINT lets the process go on as if nothing had been there. Of one that it killed strace may miss
    // the last thread, and waits for ever: nothing of it has to go on.
    if (child.exitCode === null && child.signalCode === null)
      child.kill(isKilled() ? 'SIGKILL' : 'SIGINT')
    const hangs = setTimeout(() => child.kill('SIGKILL'), DETACH_MAX_MS)
    await ended
    clearTimeout(hangs)
    const lines = injected()
    rmSync(folder, { recursive: true })
    return lines
  }
  let ending: Promise<string[]> | undefined
  return {
    killed: isKilled,
    end: () => (ending ??= detach()),
  }
}
