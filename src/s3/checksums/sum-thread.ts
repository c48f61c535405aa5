// Checksums of large bodies on one thread beside the serving thread, started with the first body. The sender of a
// batch pays for it: the thread counts its own CPU, marks leave that out, and each batch claims its share
// (metering/marks.ts).
import { Worker } from 'node:worker_threads'
import type { TimerClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Spend } from '#charging/spend.ts'
import type { JoinedThread, Marks } from '#metering/marks.ts'
import { counterMemory, readCounter } from '#metering/own-cpu.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { ChecksumAlgorithm, Hashers } from './algorithms.ts'
import {
  BATCH_BYTES,
  type SumBatch,
  type Forgotten,
  type Summed,
  type WorkerData,
} from './sum-worker.ts'
import { sumInLine, type Summing, type Sums } from './summing.ts'

/** 4 MiB of slabs in total. Without a free slab a body waits: it is read no faster than it is summed. */
const SLABS_MAX = 16
/** The slabs of one body, so that others find a free one. */
const AT_ONCE_MAX = 4
/** A batch takes a millisecond; a thread that does not answer for this long is ended. */
const SILENT_MS_MAX = 30_000

type ThreadPayer = Pick<Spend, 'claimThread'>
type Algorithms = ReadonlySet<ChecksumAlgorithm>

export interface SumThread {
  /**
   * Opens the sums of a body, paid by `payer`. A body of one batch is summed inline. Throws ServiceUnavailable when
   * the thread ends; the next body starts a new one.
   */
  open(algorithms: Algorithms, payer: ThreadPayer): Summing
}

export function createSumThread(deps: {
  readonly marks: Pick<Marks, 'join'>
  readonly hashers: Hashers
  readonly clock: Pick<TimerClock, 'setTimer'>
  readonly log: Logger
  /** For tests: another program. */
  readonly program?: URL
}): SumThread {
  const { program = new URL('./sum-worker.ts', import.meta.url) } = deps
  let life: ThreadLife | undefined
  const living = () => {
    life ??= new ThreadLife({ ...deps, program }, () => (life = undefined))
    return life
  }
  return {
    open: (algorithms, payer) => new ThreadSumming({ ...deps, living }, algorithms, payer),
  }
}

/** A waiter for a batch on the thread. */
type Job = {
  readonly payer: ThreadPayer
  readonly resolve: (sums: Sums | undefined) => void
  readonly reject: (error: unknown) => void
}

type LifeDeps = {
  readonly marks: Pick<Marks, 'join'>
  readonly clock: Pick<TimerClock, 'setTimer'>
  readonly log: Logger
  readonly program: URL
}

/** One life of the thread. */
class ThreadLife {
  readonly #worker: Worker
  readonly #joined: JoinedThread
  readonly #free: ArrayBuffer[] = []
  #slabs = 0
  /** In the order of the thread's answers. */
  readonly #jobs: Job[] = []
  readonly #waiting: PromiseWithResolvers<ArrayBuffer>[] = []
  readonly #clock: LifeDeps['clock']
  readonly #log: Logger
  #endSilence: () => void = () => undefined
  #bodies = 0
  #ended = false

  constructor({ marks, clock, log, program }: LifeDeps, ended: () => void) {
    this.#clock = clock
    this.#log = log
    const counter = counterMemory()
    const workerData: WorkerData = { counter }
    this.#worker = new Worker(program, {
      name: 'sums',
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    })
    this.#joined = marks.join(readCounter(counter))
    // The thread keeps the process alive only while a batch runs.
    this.#worker.unref()
    this.#worker.on('message', (summed: Summed) => this.#summed(summed))
    this.#worker.on('error', (error) => log.error('The thread of checksums failed', { error }))
    this.#worker.on('exit', () => {
      ended()
      this.#end()
    })
  }

  newBody(): number {
    return this.#bodies++
  }

  /** A free slab; requests are served in order. */
  slab(): ArrayBuffer | Promise<ArrayBuffer> {
    if (this.#ended) throw gone()
    const slab = this.#free.pop()
    if (slab !== undefined) return slab
    if (this.#slabs < SLABS_MAX) {
      this.#slabs++
      return new ArrayBuffer(BATCH_BYTES)
    }
    const waiting = Promise.withResolvers<ArrayBuffer>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  /** Resolves when the batch is summed and claimed. */
  sum(batch: SumBatch, payer: ThreadPayer): Promise<Sums | undefined> {
    if (this.#ended) throw gone()
    if (this.#jobs.length === 0) {
      this.#worker.ref()
      this.#expect()
    }
    const { promise, resolve, reject } = Promise.withResolvers<Sums | undefined>()
    this.#jobs.push({ payer, resolve, reject })
    this.#worker.postMessage(batch, [batch.slab])
    return promise
  }

  forget(body: number): void {
    if (!this.#ended) this.#worker.postMessage({ forget: body } satisfies Forgotten)
  }

  #summed({ slab, cpuNs, sums }: Summed): void {
    const job = this.#jobs.shift()
    if (this.#jobs.length === 0) this.#rest()
    else this.#expect()
    job?.payer.claimThread(this.#joined, cpuNs)
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(slab)
    else next.resolve(slab)
    job?.resolve(sums && new Map([...sums].map(([name, value]) => [name, Buffer.from(value)])))
  }

  /** Starts the time limit of the oldest batch. */
  #expect(): void {
    this.#endSilence()
    this.#endSilence = this.#clock.setTimer(SILENT_MS_MAX, () => this.#silent())
  }

  #rest(): void {
    this.#endSilence()
    this.#worker.unref()
  }

  #silent(): void {
    this.#log.error('The thread of checksums is silent', { batches: this.#jobs.length })
    void this.#worker.terminate()
  }

  #end(): void {
    this.#ended = true
    this.#rest()
    this.#joined.leave()
    for (const { reject } of [...this.#jobs, ...this.#waiting]) reject(gone())
    this.#jobs.length = 0
    this.#waiting.length = 0
  }
}

const gone = () => storageFault('ServiceUnavailable', 'The checksums of the body were lost')

type SummingDeps = { readonly hashers: Hashers; readonly living: () => ThreadLife }

class ThreadSumming implements Summing {
  readonly #deps: SummingDeps
  readonly #algorithms: Algorithms
  readonly #payer: ThreadPayer
  readonly #gathered: Buffer[] = []
  #bytes = 0
  #place: { readonly life: ThreadLife; readonly body: number } | undefined
  /** Batches on the thread, the oldest first. */
  readonly #running: Promise<Sums | undefined>[] = []

  constructor(deps: SummingDeps, algorithms: Algorithms, payer: ThreadPayer) {
    this.#deps = deps
    this.#algorithms = algorithms
    this.#payer = payer
  }

  update(bytes: Buffer): Promise<void> | undefined {
    this.#gathered.push(bytes)
    this.#bytes += bytes.length
    return this.#bytes > BATCH_BYTES ? this.#sendWhole() : undefined
  }

  async digest(): Promise<Sums> {
    if (this.#place === undefined) return await this.#inLine()
    await this.#send(true)
    const last = this.#running.at(-1)
    for (const batch of this.#running) await batch
    this.#running.length = 0
    const sums = await last
    this.#place = undefined
    if (sums === undefined) throw gone()
    return sums
  }

  async drop(): Promise<void> {
    if (this.#place === undefined) return
    const { life, body } = this.#place
    this.#place = undefined
    await Promise.allSettled(this.#running)
    life.forget(body)
  }

  async #inLine(): Promise<Sums> {
    const summing = await sumInLine(this.#deps.hashers, this.#algorithms)
    for (const bytes of this.#gathered) summing.update(bytes)
    return await summing.digest()
  }

  async #sendWhole(): Promise<void> {
    while (this.#bytes > BATCH_BYTES) await this.#send(false)
  }

  async #send(isLast: boolean): Promise<void> {
    if (this.#running.length === AT_ONCE_MAX) await this.#running.shift()
    const open = this.#place === undefined ? [...this.#algorithms] : undefined
    this.#place ??= this.#newPlace()
    const { life, body } = this.#place
    const slab = await life.slab()
    const length = this.#fill(Buffer.from(slab))
    const running = life.sum({ body, slab, length, open, isLast }, this.#payer)
    // Awaiting the slab throws the failure.
    running.catch(() => undefined)
    this.#running.push(running)
  }

  #newPlace() {
    const life = this.#deps.living()
    return { life, body: life.newBody() }
  }

  #fill(slab: Buffer): number {
    let length = 0
    while (length < slab.length) {
      const bytes = this.#gathered.shift()
      if (bytes === undefined) break
      const copied = bytes.copy(slab, length)
      length += copied
      if (copied < bytes.length) this.#gathered.unshift(bytes.subarray(copied))
    }
    this.#bytes -= length
    return length
  }
}
