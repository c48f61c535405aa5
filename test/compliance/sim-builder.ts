// One life of the process of evidence packs. The code is real; each statement waits for its turn, so that the history
// says which of two processes goes on, what fails, and where a life is killed. A killed life hears and writes nothing.
import { createLogger } from '#base/log.ts'
import { nj, type Nj } from '#base/units.ts'
import type { BlobDisk } from '#blobs/disk.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import type { MemoryDisk } from '#blobs/memory-disk.fixture.ts'
import { createPacks, type Packs } from '#compliance/build/follow-packs.ts'
import { fault } from '#contract/errors.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import type { State } from '#state/connect.ts'
import { LifeClock } from '../sim/schedule.ts'
import { openSimSpend, type SimProcess, type SimWorld } from './sim-process.ts'

/** The fate of a statement. */
export type Fate = 'is done' | 'is away' | 'loses its answer' | 'dies before' | 'dies after'

export type BuilderDeps = {
  readonly world: SimWorld
  readonly process: SimProcess
  readonly disk: MemoryDisk
  readonly lie: (state: State) => State
  readonly isPaid: (account: string) => boolean
  readonly useNj: () => Nj
}

type Turn = { readonly take: (fate: Fate) => Promise<void> }

/** A page of receipts: small, so that a pack of a history has several. */
const PAGE_RECEIPTS = 4
const SPINS_MAX = 30_000
/** Beyond so many the files of the machine are waited for. */
const QUICK_SPINS = 200
/** An immediate after which nothing changes is no proof: streams take some. */
const STILL_SPINS = 4
export const FOLDER = 'blobs'
const PROGRESS = 'update evidence_packs set done'
export const quiet = createLogger('sim', { level: 'error', write: () => undefined })

const never = <T>(): Promise<T> => new Promise<T>(() => undefined)
const away = () => fault('state_unavailable', 'Could not ask the state: its answer is lost')

export class SimBuilder {
  readonly process: SimProcess
  readonly #deps: BuilderDeps
  readonly #clock: LifeClock
  readonly #ending = new AbortController()
  readonly #turns: Turn[] = []
  #packs: Packs | undefined
  #sleeps = 0
  #asking = 0
  /** Operations of the disk until this life is killed. */
  #diskLeft = Number.POSITIVE_INFINITY
  ended = false

  constructor(deps: BuilderDeps) {
    this.#deps = deps
    this.process = deps.process
    this.#clock = new LifeClock(deps.world.schedule, 1)
  }

  get alive(): boolean {
    return this.#clock.alive
  }

  get isAsking(): boolean {
    return this.#turns.length > 0
  }

  async begin(): Promise<void> {
    const { world, process, disk, isPaid, useNj } = this.#deps
    await process.open()
    const clock = this.#clock
    const store = await createFsStore({
      folder: FOLDER,
      location: 'fs',
      log: quiet,
      clock,
      disk: this.#diskOf(disk),
    })
    const state = this.#deps.lie(this.#stateOf(world.state))
    const spend = { process, wallMs: () => clock.wallMs(), useNj, isPaid }
    this.#packs = createPacks({
      state,
      receipts: createSqlReceiptStore(state),
      stores: { byLocation: new Map([['fs', store]]), target: store, local: store },
      postCharges: () => this.#inTurn(() => process.tick()),
      charging: { open: () => openSimSpend(spend) },
      payerOf: (account) => ({ account, env: 'test', funded: true }),
      clock,
      sleep: (ms, signal) => this.#sleep(ms, signal),
      pageReceipts: PAGE_RECEIPTS,
      log: quiet,
    })
    void this.#packs.run(this.#ending.signal).then(() => (this.ended = true))
    await this.still()
  }

  wake(deleted: string): void {
    if (this.alive) this.#packs?.wake(deleted)
  }

  stop(): void {
    this.#ending.abort(new TypeError('The process is stopping'))
  }

  /** Its timers wait so long. */
  rest(ms: number): void {
    this.#clock.stoppedUntilMs = this.#deps.world.schedule.nowMs + ms
  }

  kill(): void {
    this.#clock.alive = false
    this.#turns.length = 0
  }

  /** Killed in the midst of its writing. */
  killAtDisk(operations: number): void {
    this.#diskLeft = operations
  }

  /** The next statement of those that wait. */
  async turn(fate: Fate): Promise<void> {
    await this.#turns.shift()?.take(fate)
    await this.still()
  }

  /** Resolves once this life asks, sleeps, has ended or is dead. */
  async still(): Promise<void> {
    let still = 0
    for (let spins = 0; still < STILL_SPINS; spins++) {
      if (spins > SPINS_MAX) throw new TypeError('A process neither asks nor sleeps')
      const wait = spins < QUICK_SPINS ? setImmediate : setTimeout
      await new Promise<void>((resolve) => void wait(resolve, 1))
      const isWaiting = this.isAsking || this.#sleeps > 0 || this.ended || !this.alive
      still = isWaiting && this.#asking === 0 ? still + 1 : 0
    }
  }

  #stateOf(state: State): State {
    return {
      ...state,
      query: (text, values) => {
        const ask = () => state.query<never>(text, values)
        return text.startsWith(PROGRESS) ? this.#aside(ask) : this.#inTurn(ask)
      },
      transaction: (work) => this.#inTurn(() => state.transaction(work)),
    }
  }

  /** Progress is written beside the work, which does not wait for it. */
  async #aside<T>(act: () => Promise<T>): Promise<T> {
    if (!this.alive) return await never()
    this.#asking++
    const done = await act().finally(() => this.#asking--)
    return this.alive ? done : await never()
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    if (!this.alive) return never()
    return new Promise<T>((resolve, reject) => {
      const take = async (fate: Fate) => {
        if (fate === 'is away') return reject(away())
        if (fate === 'dies before') return this.kill()
        await act().then(
          (done) => {
            if (fate === 'dies after') return this.kill()
            if (fate === 'loses its answer') reject(away())
            else resolve(done)
          },
          (error: unknown) => reject(error),
        )
      }
      this.#turns.push({ take })
    })
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.#sleeps++
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = () => reject(signal.reason)
    const cancel = this.#clock.setTimer(ms, resolve)
    signal.addEventListener('abort', stop, { once: true })
    try {
      await promise
    } finally {
      this.#sleeps--
      cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  #diskOf(disk: MemoryDisk): BlobDisk {
    const step = async <T>(act: () => Promise<T>): Promise<T> => {
      if (this.alive && this.#diskLeft-- <= 0) this.kill()
      return this.alive ? await act() : await never()
    }
    return {
      makeFolder: (path) => disk.makeFolder(path),
      names: (path) => disk.names(path),
      open: (path) => disk.open(path),
      stat: (path) => disk.stat(path),
      space: () => disk.space(),
      syncFolder: (path) => step(() => disk.syncFolder(path)),
      remove: (path) => step(() => disk.remove(path)),
      async create(path) {
        const file = await step(() => disk.create(path))
        return {
          write: (chunks, position) => step(() => file.write(chunks, position)),
          sync: () => step(() => file.sync()),
          close: () => step(() => file.close()),
        }
      },
    }
  }
}

/** The energy between two marks: some mJ, and joules where the machine is busy with others. */
export const usedNj = (mJ: number): Nj => nj(BigInt(mJ) * 1_000_000n)
