// The summing thread: batches of many bodies, in order. Any exception ends the thread, and sum-thread.ts fails all
// waiters.
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '#base/errors.ts'
import { countOwnCpu, type CounterMemory } from '#metering/own-cpu.ts'
import { createHashers, type ChecksumAlgorithm } from './algorithms.ts'
import { digestAll, openAll, type RunningSums } from './summing.ts'

/** Batches are in slabs that one thread owns at a time: V8 copies from shared memory at a third of the speed. */
export const BATCH_BYTES = 256 * 1024

export type WorkerData = { readonly counter: CounterMemory }

/** A batch of a body; the first has the algorithms, the last ends the body. */
export type SumBatch = {
  readonly body: number
  readonly slab: ArrayBuffer
  readonly length: number
  readonly open: readonly ChecksumAlgorithm[] | undefined
  readonly isLast: boolean
}

/** An abandoned body. */
export type Forgotten = { readonly forget: number }

/** The answer to a batch, in order: the CPU since the last answer. */
export type Summed = {
  readonly slab: ArrayBuffer
  readonly cpuNs: number
  /** The sums, with the answer to the last batch. */
  readonly sums: ReadonlyMap<ChecksumAlgorithm, Uint8Array> | undefined
}

if (parentPort !== null) serve(parentPort, workerData as WorkerData)

function serve(port: NonNullable<typeof parentPort>, { counter }: WorkerData): void {
  const count = countOwnCpu(counter)
  const hashers = createHashers()
  const bodies = new Map<number, RunningSums>()
  const sum = async ({ body, slab, length, open, isLast }: SumBatch): Promise<void> => {
    if (open !== undefined) bodies.set(body, await openAll(hashers, open))
    const running = present(bodies.get(body), 'a body begins with its first batch')
    const bytes = Buffer.from(slab, 0, length)
    for (const hasher of running.values()) hasher.update(bytes)
    const sums = isLast ? digestAll(running) : undefined
    if (isLast) bodies.delete(body)
    port.postMessage({ slab, cpuNs: count(), sums } satisfies Summed, [slab])
  }
  let turn = Promise.resolve()
  port.on('message', (message: SumBatch | Forgotten) => {
    turn = turn.then(async () => {
      if ('forget' in message) bodies.delete(message.forget)
      else await sum(message)
    })
  })
}
