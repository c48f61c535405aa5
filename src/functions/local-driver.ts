// Functions as cells of this machine: a process with a uid, namespaces and limits of its own, and an empty
// environment. Its network has the proxy of its account alone, and of the machine's files it sees only those that a
// program needs to run.
import { dirname } from 'node:path'
import { sleep } from '#base/clock.ts'
import type { Cell, CellOutlet, Cells, CellSpec, Exit, OutputLine } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import {
  FUNCTION_CONCURRENCY,
  FUNCTION_CONCURRENCY_MAX,
} from '#contract/functions/function-limits.ts'
import type { SleepCause } from '#contract/resources/intervals.ts'
import { answers, askTenant, pathOf, programCell, type ProgramPlace } from '#node/cell-specs.ts'
import { EGRESS_SOCKETS, PROXY_VARIABLES, type NodeEgress } from '#node/egress.ts'
import { INSTANCE_SOCKETS } from '#node/ingress.ts'
import type { Program } from '#node/program-flags.ts'
import type { ResourceLine } from '#resources/keep-logs.ts'
import { functionCellOf, functionUserOf } from './cell-name.ts'
import type { FunctionDriver, FunctionSpec } from './driver.ts'
import type { Runtimes } from './runtimes.ts'
import type { Spares } from './spares.ts'

const PROCESSES_MAX = 64
const FILES_MAX = 1000
const LOAD_MAX_MS = 15_000
const STOP_MAX_MS = 30_000
const WATCH_MS = 5000
const FAILURE_MAX = 500
/** Beyond the time of a request: code that blocks its process for longer is ended, also where nobody waits. */
const SILENT_MS = 15_000
/** Silence, after a late request, at which the process is ended. */
const BLOCKED_MS = 2000

export function createLocalDriver(deps: {
  readonly cells: Pick<Cells, 'start'>
  readonly place: ProgramPlace
  readonly runtimes: Runtimes
  readonly egress: Pick<NodeEgress, 'outletOf'>
  readonly spares: Pick<Spares, 'take' | 'fill'>
  /** Holds energy for the cell that is about to start. */
  readonly admit: (cell: string, account: string) => Promise<void>
  readonly line: (line: ResourceLine) => void
}): FunctionDriver {
  const { cells, place, runtimes, egress, spares, admit, line } = deps
  return {
    admit: ({ id, version, account }) => admit(functionCellOf(id, version), account),
    async start(spec) {
      const { id, version, account } = spec
      const program = runtimes.get(spec.runtime)?.(spec.memoryBytes)
      if (program === undefined) throw failed(`there is no ${spec.runtime} on this node any more`)
      const name = functionCellOf(id, version)
      const outlet = await egress.outletOf({ name, account })
      let isBlocked = false
      let concurrency = FUNCTION_CONCURRENCY
      const wanted = cellOf(
        spec,
        { program, place, outlet },
        {
          output: (output) => line(lineOf(id, output)),
          ended(exit) {
            line(endLineOf(id, isBlocked ? { ...exit, stuck: 'blocked' } : exit))
            isBlocked = false
          },
        },
      )
      const spare = spares.take(wanted)
      const cell = spare ?? (await cells.start(wanted))
      spares.fill()
      return {
        address: `unix:${cell.socket}`,
        cell: name,
        isOpen: spare !== undefined,
        get concurrency() {
          return concurrency
        },
        async ready(signal) {
          const limit = AbortSignal.any([signal, AbortSignal.timeout(LOAD_MAX_MS)])
          try {
            const page = await loadedPage(cell, limit)
            assertLoaded(page)
            concurrency = concurrencyIn(page) ?? concurrency
          } catch (error) {
            if (signal.aborted || !limit.aborted) throw error
            throw failed(`it is not loaded after ${LOAD_MAX_MS / 1000} s`)
          }
        },
        end: (cause) => cell.stop(AT_ONCE.has(cause) ? 0 : undefined),
        async unblock() {
          const limit = AbortSignal.timeout(BLOCKED_MS)
          await askTenant(cell.socket, '/-/ready', limit).catch(() => {
            // A process that is just being started refuses at once.
            if (!limit.aborted || isBlocked) return
            isBlocked = true
            cell.kill()
          })
        },
      }
    },
  }
}

/** These end the requests that run: a held account's functions end one after the other, and none waits for another. */
const AT_ONCE: ReadonlySet<SleepCause> = new Set(['suspended', 'balance', 'failed'])
/** A process that has just ended comes back; one that is still loading is silent. */
const GONE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'cell_silent'])
const AGAIN_MS = 50

async function loadedPage(cell: Cell, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    await cell.ready(signal)
    try {
      return await askTenant(cell.socket, '/-/loaded', signal)
    } catch (error) {
      if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      await sleep(AGAIN_MS, signal)
    }
  }
}

const failed = (why: string) => fault('function_failed', `Could not start the function: ${why}`)

function assertLoaded(page: unknown): void {
  if (typeof page !== 'object' || page === null || !('failure' in page)) return
  // The text is the tenant's: code can answer in place of the runtime.
  if (typeof page.failure === 'string')
    throw failed(
      page.failure
        .slice(0, FAILURE_MAX)
        .replaceAll(/\p{Cc}+/gu, ' ')
        .toWellFormed(),
    )
}

/** Code can answer in place of the runtime, and changes nothing but its own requests by that. */
function concurrencyIn(page: unknown): number | undefined {
  if (typeof page !== 'object' || page === null || !('concurrency' in page)) return undefined
  const { concurrency } = page
  const isOne = Number.isInteger(concurrency) && Number(concurrency) >= 1
  return isOne ? Math.min(Number(concurrency), FUNCTION_CONCURRENCY_MAX) : undefined
}

function cellOf(
  {
    id,
    account,
    name,
    version,
    file,
    source,
    env,
    memoryBytes,
    timeoutS,
    concurrency,
  }: FunctionSpec,
  {
    program,
    place,
    outlet,
  }: { readonly program: Program; readonly place: ProgramPlace; readonly outlet: CellOutlet },
  { output, ended }: Required<Pick<CellSpec, 'output' | 'ended'>>,
): CellSpec {
  const timeoutMs = timeoutS * 1000
  return {
    ...isolated(program, place, {
      name: functionCellOf(id, version),
      user: functionUserOf(id),
      config: { name, version, file, source, env, memoryBytes, timeoutMs, concurrency },
      memoryBytes,
      outlet,
    }),
    watch: {
      look: async (socket, signal) => void (await askTenant(socket, '/-/ready', signal)),
      everyMs: WATCH_MS,
      silentMs: timeoutMs + SILENT_MS,
    },
    stop: { signal: 'SIGTERM', graceMs: Math.min(timeoutMs, STOP_MAX_MS) },
    payer: { kind: 'account', account },
    output,
    ended,
  }
}

/** A program without a function; most functions have its memory. */
export function spareCell(
  program: Program,
  place: ProgramPlace,
  given: Omit<Isolated, 'config'>,
): CellSpec {
  return {
    ...isolated(program, place, { ...given, config: {} }),
    isSpare: true,
    // It has nothing to end.
    stop: { signal: 'SIGKILL', graceMs: 0 },
  }
}

type Isolated = Pick<CellSpec, 'name'> & {
  readonly user: string
  readonly config: object
  readonly memoryBytes: number
  readonly outlet: CellOutlet
}

function isolated(program: Program, place: ProgramPlace, given: Isolated): CellSpec {
  const { name, user, config, memoryBytes, outlet } = given
  // It reads nothing of ours but the runtime.
  const { compiled: _, ...spec } = programCell(program, {
    name,
    user,
    place,
    config,
    environment: PROXY_VARIABLES,
    socketGroup: INSTANCE_SOCKETS,
    root: { outlet },
    calls: [EGRESS_SOCKETS],
    reads: [dirname(pathOf(program))],
    limits: { memoryBytes, processes: PROCESSES_MAX, files: FILES_MAX },
    ready: { probe: answers('/-/ready', askTenant), timeoutMs: LOAD_MAX_MS },
  })
  return spec
}

const LEVELS: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error'])
const REQUEST = /^req_[a-z0-9]{1,40}$/

/** The end of a process, for the owner of the code. */
function endLineOf(id: string, { code, signal, stuck, outOfMemory }: Exit): ResourceLine {
  const why =
    outOfMemory === true
      ? 'it needed more than its memory'
      : stuck !== undefined
        ? 'it did not answer any more'
        : signal === null
          ? `exit code ${code}`
          : signal
  return {
    resource: id,
    source: null,
    level: 'error',
    text: `The process ended: ${why}`,
    isOwn: true,
  }
}

/** A line of the runtime, or any text that the code has written by itself. */
function lineOf(id: string, { stream, text }: OutputLine): ResourceLine {
  const level = stream === 'stderr' ? 'error' : 'info'
  const plain: ResourceLine = { resource: id, source: null, level, text }
  if (!text.startsWith('{"ergon":1,')) return plain
  try {
    const made = JSON.parse(text) as Readonly<Record<string, unknown>>
    if (typeof made['text'] !== 'string' || !LEVELS.has(String(made['level']))) return plain
    const request = String(made['request'])
    return {
      resource: id,
      source: REQUEST.test(request) ? request : null,
      level: made['level'] as string,
      text: made['text'],
    }
  } catch {
    return plain
  }
}
