// The start of an instance: output, checks and its end, so that a failure says why.
import type { Cell, Cells } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import type { WorkloadEnd, WorkloadSpec } from './driver.ts'
import { openPorts } from './open-ports.ts'

const LINES_SHOWN = 20
const LINE_SHOWN = 200
const LINES_TEXT_MAX = 1000

export interface Trial {
  wrote(line: string): void
  /** The reason of the newest readiness check that failed. */
  saw(words: string): void
  ended(end: WorkloadEnd): void
  /** Rejects with workload_failed where it ends first, or is not ready in time. */
  ready(cell: Cell, signal: AbortSignal): Promise<void>
}

export function createTrial(
  { port, command }: Pick<WorkloadSpec, 'port' | 'command'>,
  { readyMs, programs }: { readonly readyMs: number; readonly programs: Cells['programs'] },
): Trial {
  const lines: string[] = []
  let seen: string | undefined
  let end: WorkloadEnd | undefined
  let ending = new AbortController()
  const failed = (why: string) => {
    const last = lines.join(' | ').slice(-LINES_TEXT_MAX)
    const more = last === '' ? '' : `; its last lines: ${last}`
    return fault('workload_failed', `Could not start the workload: ${why}${more}`)
  }
  return {
    wrote(line) {
      lines.push(plain(line).slice(0, LINE_SHOWN))
      if (lines.length > LINES_SHOWN) lines.shift()
    },
    saw: (words) => void (seen = words),
    ended(of) {
      end = of
      ending.abort()
      ending = new AbortController()
    },
    async ready(cell, signal) {
      if (cell.state === 'waiting' && end !== undefined)
        throw failed(`${end.words}${commandHint(end, command)}`)
      const late = AbortSignal.timeout(readyMs)
      const ended = ending.signal
      try {
        await cell.ready(AbortSignal.any([signal, late, ended]))
      } catch (error) {
        if (ended.aborted && end !== undefined)
          throw failed(`${end.words} before it was ready${commandHint(end, command)}`)
        if (signal.aborted || !late.aborted) throw error
        const pid = programs().get(cell)
        const { root, container } = cell.spec
        const ours = (root ?? container)?.outlet?.ports.map((one) => one.port)
        const open = pid === undefined ? [] : openPorts(pid).filter((one) => !ours?.includes(one))
        throw failed(`it was not ready after ${readyMs / 1000} s: ${portsText(open, port, seen)}`)
      }
    },
  }
}

const NOT_FOUND = 127

/** Of a line for a shell that was given as one word. */
function commandHint({ exitCode }: WorkloadEnd, command: WorkloadSpec['command']): string {
  const [line = '', ...more] = command ?? []
  if (exitCode !== NOT_FOUND || more.length > 0 || !/\s/.test(line)) return ''
  const shown = (words: readonly string[]) => JSON.stringify(words.map((one) => plain(one)))
  return ` (no program has the name ${plain(JSON.stringify(line))}; a line for a shell is ${shown(['/bin/sh', '-c', line])})`
}

function portsText(open: readonly number[], port: number, seen: string | undefined): string {
  if (open.length === 0) return `nothing listens on port ${port}`
  if (!open.includes(port)) return `port ${open.join(', ')} is open, and ${port} is configured`
  return seen ?? `port ${port} is open`
}

/** The text is the tenant's. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').toWellFormed()
