// The life of one cell after another: start, wait until it answers, wait for its end, clear away what is
// left of it, wait as the restart rule says, start again; until stop().
import { baseFault } from '#base/own-errors.ts'

import { type Clock, sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'

import type { Cell, CellSpec, CellState, CpuCause, Exit, OutputLine, StartedLife } from './cell.ts'
import { ownedLife, type OwnedLife } from './life.ts'
import { errorIn } from './output.ts'
import { untilAnswering, untilStuck } from './answering.ts'
import { type Life, nextStart } from './restart.ts'
import { findProgram, killTree, signalProcess, type CellTree } from './stop.ts'

export type SupervisorDeps = {
  readonly socket: string
  /** Starts the process; called once per life. */
  readonly launch: () => StartedLife
  /** True when an init of ours runs between the leader and the program. */
  readonly hasInit: boolean
  /** The tree of the present life, and the CPU of all lives, given a way to ask for the leader. */
  readonly observe: (leader: () => number | undefined) => Observed
  readonly records: { write(pid: number): void; remove(): void }
  /** Frees what the cell held: its groups and its folder of sockets. */
  readonly cleanUp: () => Promise<void>
  readonly changed: (cell: Cell) => void
  readonly relay: (line: OutputLine) => void
  readonly clock: Clock
  readonly log: Logger
}
export type Observed = {
  readonly tree: CellTree
  cpuNs(): bigint
  /** Processes that the kernel has killed for want of memory, in all lives. */
  memoryKills(): number
  endLife(): void
}

type EndedBecause = Pick<Exit, 'silent' | 'stuck'>

const EXITS_MAX = 20
/** Lines of the output of a life that are kept for the words about its end. */
const LAST_LINES = 20

/** The process of a spare, and the CPU of its group until it became another cell's. */
export type Assigned = {
  readonly deps: SupervisorDeps
  readonly life: OwnedLife
  readonly cpuNs: bigint
}

export interface SupervisedCell extends Cell {
  /** Gives up the process of a ready spare, and is stopped; undefined where none answers. */
  giveUp(): Assigned | undefined
}

/** Starts a cell and keeps it running; its first life may be that of a spare. */
export const superviseCell = (
  spec: CellSpec,
  deps: SupervisorDeps,
  first?: Pick<Assigned, 'life' | 'cpuNs'>,
): SupervisedCell => new OneCell(spec, deps, first)

class OneCell implements SupervisedCell {
  readonly spec: CellSpec
  readonly socket: string
  readonly exits: Exit[] = []
  readonly #deps: SupervisorDeps
  readonly #observed: Observed
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #running: Promise<void>
  readonly #givenUp = Promise.withResolvers<void>()
  /** CPU of its group before that was this cell's. */
  readonly #beforeNs: bigint
  #state: CellState = 'starting'
  #life: OwnedLife | undefined
  /** Of a spare that has given up its process. */
  #lastNs: bigint | undefined
  #stopped: Promise<void> | undefined
  #lastError: string | undefined
  #lastLines: string[] = []

  constructor(spec: CellSpec, deps: SupervisorDeps, first?: Pick<Assigned, 'life' | 'cpuNs'>) {
    this.spec = spec
    this.socket = deps.socket
    this.#deps = deps
    this.#life = first?.life
    this.#beforeNs = first?.cpuNs ?? 0n
    this.#observed = deps.observe(() => this.pid)
    this.#running = this.#run().catch((error: unknown) => this.#fail(error))
  }

  get state() {
    return this.#state
  }

  get pid() {
    return this.#life?.pid
  }

  get lastError() {
    return this.#lastError
  }

  cpuNs() {
    return (this.#lastNs ?? this.#observed.cpuNs()) - this.#beforeNs
  }

  giveUp(): Assigned | undefined {
    const life = this.#life
    if (this.spec.isSpare !== true || this.#state !== 'ready' || life?.isRunning !== true)
      return undefined
    this.#lastNs = this.#observed.cpuNs()
    this.#stopping.abort()
    this.#stopped = Promise.resolve()
    this.#life = undefined
    this.#givenUp.resolve()
    this.#become('stopped')
    return { deps: this.#deps, life, cpuNs: this.#lastNs }
  }

  processes() {
    return this.#observed.tree.processes().map(({ pid }) => pid)
  }

  freeze(frozen: boolean) {
    return this.#observed.tree.freeze(frozen)
  }

  limitCpu(cause: CpuCause, milli: number | undefined) {
    this.#observed.tree.limitCpu(cause, milli)
  }

  ready(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = (settle: () => void) => {
        this.#waiting.delete(look)
        signal?.removeEventListener('abort', abort)
        settle()
      }
      const abort = () => end(() => reject(signal?.reason))
      const look = () => {
        if (this.#state === 'ready') end(resolve)
        else if (this.#stopping.signal.aborted)
          end(() => reject(cannot('Stopped before it answered', this.spec.name)))
      }
      this.#waiting.add(look)
      signal?.addEventListener('abort', abort)
      look()
    })
  }

  stop(graceMs = this.spec.stop.graceMs): Promise<void> {
    this.#stopped ??= this.#stop(Math.min(graceMs, this.spec.stop.graceMs)).catch((error) => {
      // A further stop tries again.
      this.#stopped = undefined
      throw error
    })
    return this.#stopped
  }

  #become(state: CellState) {
    this.#state = state
    for (const look of this.#waiting) look()
    this.#deps.changed(this)
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    const { name, restart } = this.spec
    const lives: Life[] = []
    while (!this.#stopping.signal.aborted) {
      const startedMs = clock.monotonicMs()
      const exit = await this.#live()
      if (exit === undefined) return
      lives.push({ startedMs, endedMs: clock.monotonicMs() })
      this.exits.push(exit)
      if (lives.length > restart.delaysMs.length) lives.shift()
      if (this.exits.length > EXITS_MAX) this.exits.shift()
      if (this.#stopping.signal.aborted) return
      const hasAnswered = this.#state === 'ready'
      this.spec.ended?.(exit, { hasAnswered, lastLines: this.#lastLines })
      const delayMs = nextStart(lives, restart)
      log.warn('A cell has ended and is started again', { cell: name, ...exit, delayMs })
      this.#become('waiting')
      await sleep(delayMs, this.#stopping.signal).catch(() => undefined)
      if (!this.#stopping.signal.aborted) this.#become('starting')
    }
  }

  /** A fault of the supervisor, such as processes that it cannot end; not an exit of the cell. */
  #fail(error: unknown): void {
    this.#deps.log.error('A cell is given up', { cell: this.spec.name, error })
    this.#stopping.abort()
    // Where it is being stopped, the stop clears away what is left, and says when that is done.
    this.#become(this.#stopped === undefined ? 'stopped' : 'stopping')
  }

  /** One life, until nothing is left of it, or until it is given up. */
  async #live(): Promise<Exit | undefined> {
    const { clock, records } = this.#deps
    const isTaken = this.#life !== undefined
    const life = this.#life ?? ownedLife(this.#deps.launch(), this.spec, clock)
    this.#life = life
    const killsBefore = this.#observed.memoryKills()
    if (life.pid !== undefined && !isTaken) this.#record(life.pid)
    this.#serve(life)
    const ended = new AbortController()
    const watching = this.#watchLife(ended.signal, isTaken)
    const end = await Promise.race([life.exit, this.#givenUp.promise])
    ended.abort()
    if (end === undefined) return undefined
    const how = { ...end, at: clock.wallMs() }
    const why = await watching
    await killTree(this.#observed.tree, clock)
    await life.drained()
    const isKilled = how.signal === 'SIGKILL' && this.#observed.memoryKills() > killsBefore
    this.#observed.endLife()
    this.#life = undefined
    records.remove()
    return { ...how, ...why, ...(isKilled && { outOfMemory: true }) }
  }

  /** Takes its lines, and gives it its config. */
  #serve(life: OwnedLife): void {
    const sink = this.spec.output ?? this.#deps.relay
    this.#lastLines = []
    life.hear((line) => {
      if (this.#lastLines.push(line.text) > LAST_LINES) this.#lastLines.shift()
      this.#lastError = errorIn(line.text) ?? this.#lastError
      sink(line)
    })
    const { isSpare, config, root } = this.spec
    if (isSpare !== true) life.configure?.(config, root?.outlet?.ticket)
  }

  /** Without a record a later start could not find it: then it must not live. */
  #record(pid: number): void {
    try {
      this.#deps.records.write(pid)
    } catch (error) {
      this.#deps.log.error('A cell is ended, as its start could not be recorded', {
        cell: this.spec.name,
        cause: messageOf(error),
      })
      this.kill()
    }
  }

  /** From its start to its end; resolves with why it was ended as silent or stuck, if it was. */
  async #watchLife(ended: AbortSignal, isReady: boolean): Promise<EndedBecause | undefined> {
    // The process of a spare answers.
    if (isReady) this.#become('ready')
    else if (!(await this.#watchReadiness(ended))) return { silent: true }
    const { name, watch } = this.spec
    if (watch === undefined || this.#state !== 'ready') return undefined
    const why = await untilStuck(watch, this.socket, ended)
    if (why === undefined || ended.aborted || this.#stopping.signal.aborted) return undefined
    this.#deps.log.error('A cell is stuck and is ended', { cell: name, cause: why })
    this.kill()
    return { stuck: why }
  }

  /** False where it was ended: it does not answer in time. */
  async #watchReadiness(ended: AbortSignal): Promise<boolean> {
    const { name, ready } = this.spec
    const own = { socket: this.socket, processes: () => this.processes() }
    const answered = await untilAnswering(this.spec, own, ended)
    if (ended.aborted || this.#stopping.signal.aborted) return true
    if (answered === true) {
      this.#become('ready')
      return true
    }
    this.#deps.log.warn('A cell does not answer in time and is ended', {
      cell: name,
      timeoutMs: ready.timeoutMs,
      cause: messageOf(answered),
    })
    this.kill()
    return false
  }

  kill(): void {
    // The leader by its pid too: it may not have joined its group yet.
    this.#life?.kill()
    this.#observed.tree.kill()
  }

  async #stop(graceMs: number): Promise<void> {
    const { hasInit } = this.#deps
    const { tree } = this.#observed
    this.#stopping.abort()
    this.#become('stopping')
    if (this.#life !== undefined) {
      await tree.freeze(false)
      // All processes of the machine take 5 ms of CPU to read, at 250.
      const own = hasInit ? tree.processes() : []
      const program = this.pid === undefined ? undefined : findProgram(this.pid, hasInit, own)
      if (program !== undefined) {
        signalProcess(program, this.spec.stop.signal)
        const inTime = new AbortController()
        const grace = sleep(graceMs, inTime.signal).catch(() => undefined)
        await Promise.race([this.#running, grace])
        inTime.abort()
      }
      this.kill()
    }
    await this.#running
    await this.#deps.cleanUp()
    this.#become('stopped')
  }
}

const cannot = (what: string, name: string) => baseFault('internal', `${what}: ${name}`)
