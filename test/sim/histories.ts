// Histories of consecutive seeds, simulated in a thread of its own: node:test follows every promise of the
// thread that it runs in, which took a third of the time.
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Plant } from './faults.ts'
import { simulate } from './simulate.ts'

export type Seeds = { readonly first: number; readonly count: number; readonly plant?: Plant }
export type Histories = {
  readonly charges: number
  readonly paid: number
  /** The first seed that was red, behind which none was tried. */
  readonly red?: { readonly seed: number; readonly faults: readonly string[] }
}

/** Simulates them until one is red; rejects with what a simulation throws. */
export async function runHistories(seeds: Seeds): Promise<Histories> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: seeds,
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  })
  const [histories] = (await once(worker, 'message')) as [Histories]
  await worker.terminate()
  return histories
}

async function simulateAll({ first, count, plant }: Seeds): Promise<Histories> {
  let charges = 0
  let paid = 0
  for (let seed = first; seed < first + count; seed++) {
    const result = await simulate(seed, plant)
    charges += result.charges
    paid += result.paid
    if (result.faults.length > 0) return { charges, paid, red: { seed, faults: result.faults } }
  }
  return { charges, paid }
}

if (!isMainThread) {
  const seeds = workerData as Seeds
  // Errors are part of the histories, and their stacks took a tenth of the time.
  if (seeds.count > 1) Error.stackTraceLimit = 0
  parentPort?.postMessage(await simulateAll(seeds))
}
