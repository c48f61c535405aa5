// Processes that wait for functions: isolated and started, without any code. Each runs one function, once, and ends with
// it. The operator pays for a spare until the account of a function does.
import { sleep } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { repeatedFailuresOf } from '#base/repeated-failures.ts'
import type { Cell, Cells, CellSpec } from '#cells/cell.ts'
import { SPARE_CELLS } from './cell-name.ts'

export interface Spares {
  /** Runs the cell of a function in a spare; undefined where none of its program and memory waits. */
  take(spec: CellSpec): Cell | undefined
  /** Starts those that are missing. */
  fill(): void
  /** No spare starts any more. Spares that wait end with the other cells of the node. */
  close(): void
}

export type SparesDeps = {
  readonly cells: Pick<Cells, 'start' | 'assign' | 'list'>
  readonly log: Logger
  readonly count: number
  /** The program under a name, and with the uid of a name. */
  readonly specOf: (name: string, user: string) => Promise<CellSpec>
  /** Asks a spare for a page, by the code of its first request. */
  readonly ask: (spare: Cell, signal: AbortSignal) => Promise<unknown>
  /** The pause after a failed start. */
  readonly retryMs?: number
}

/** A start takes 0.1 s of CPU: the function that has just taken a spare has its first request first. */
const REST_MS = 300
const READY_MAX_MS = 20_000
/**
 * V8 compiles well what has run a few times. Behind 16 pages the start of a function took 3.1 ms of the spare's CPU in place of
 * 3.7, and behind 60 of them 2.8. A page costs 0.3 ms.
 */
const WARMING_PAGES = 16
/** A machine that is too busy to start one stays so for a while. */
const RETRY_MS = 10_000

export function createSpares(deps: SparesDeps): Spares {
  const { cells, log, count, specOf, ask, retryMs = RETRY_MS } = deps
  const closing = new AbortController()
  const { signal } = closing
  const tellFailed = repeatedFailuresOf(log)
  const ofSpares = () => cells.list().filter(({ spec }) => spec.user?.startsWith(SPARE_CELLS))
  const waiting = () => ofSpares().filter(({ spec }) => spec.isSpare === true)
  /** The names of cells are never used again: a caller that is late must not meet another function at its socket. */
  let started = 0
  let filling: Promise<void> | undefined
  const start = async () => {
    const name = `${SPARE_CELLS}${++started}`
    const cell = await cells.start(await specOf(name, freeUser(ofSpares())))
    const limit = AbortSignal.any([signal, AbortSignal.timeout(READY_MAX_MS)])
    await cell.ready(limit)
    // Until a function takes it: its account pays from then on.
    for (let page = 0; page < WARMING_PAGES && cell.state === 'ready'; page++)
      await ask(cell, limit).catch(() => undefined)
  }
  const fill = async () => {
    await sleep(REST_MS, signal)
    while (!signal.aborted && waiting().length < count) {
      try {
        await start()
      } catch (error) {
        if (signal.aborted) return
        const message = 'A spare for functions did not start'
        tellFailed({ level: 'warn', message, subject: 'spare', error })
        await sleep(retryMs, signal)
      }
    }
  }
  const refill = () => {
    if (signal.aborted) return
    // Its only fault is the end.
    filling ??= fill()
      .catch(() => undefined)
      .finally(() => (filling = undefined))
  }
  return {
    take(spec) {
      const spare = waiting().find((one) => one.state === 'ready' && startsAs(one.spec, spec))
      if (spare?.spec.user === undefined) return undefined
      return cells.assign(spare, { ...spec, user: spare.spec.user })
    },
    fill: refill,
    close: () => closing.abort(),
  }
}

const startsAs = (spare: CellSpec, spec: CellSpec): boolean =>
  spare.limits.memoryBytes === spec.limits.memoryBytes &&
  spare.argv.join('\0') === spec.argv.join('\0')

/** A name whose uid no cell has now. Nothing stays of a spare that a later one with its uid could find. */
function freeUser(cells: readonly Cell[]): string {
  const taken = new Set(cells.map(({ spec }) => spec.user))
  for (let nth = 1; ; nth++) {
    const user = `${SPARE_CELLS}user-${nth}`
    if (!taken.has(user)) return user
  }
}
