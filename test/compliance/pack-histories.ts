// Histories of evidence packs in a thread of its own: node:test follows every promise of the thread that it runs in,
// which took more than half of the time.
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { openSealedLog } from '#compliance/sealed-log.fixture.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import type { PackPlant } from './pack-plants.ts'
import { simulatePacks } from './simulate.ts'

export type PackRun = {
  /** The URL of the server's schema `public`. */
  readonly url: string
  readonly histories: readonly PackHistories[]
}
export type PackHistories = {
  readonly plant?: PackPlant
  readonly seeds: readonly number[]
}
export type PackRunResult = {
  readonly plant: PackPlant | undefined
  readonly packs: number
  readonly made: number
  readonly kills: number
  /** The first seed that was red, behind which none was tried. */
  readonly red?: { readonly seed: number; readonly faults: readonly string[] }
}

/** Histories in one state, whose log grows with each of them. */
const HISTORIES_EACH = 50

/** Simulates the seeds of each in their order until one is red; rejects with what a simulation throws. */
export async function runPackHistories(run: PackRun): Promise<readonly PackRunResult[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: run })
  const [results] = (await once(worker, 'message')) as [readonly PackRunResult[]]
  await worker.terminate()
  return results
}

async function simulateAll(url: string, { plant, seeds }: PackHistories): Promise<PackRunResult> {
  const sums = { packs: 0, made: 0, kills: 0 }
  for (let first = 0; first < seeds.length; first += HISTORIES_EACH) {
    await using state = await openLedgerState((schema) => urlOf(url, schema), 1)
    const log = await openSealedLog(state)
    for (const seed of seeds.slice(first, first + HISTORIES_EACH)) {
      const { faults, packs, made, kills } = await simulatePacks({ state, log }, seed, plant)
      sums.packs += packs
      sums.made += made
      sums.kills += kills
      if (faults.length > 0) return { plant, ...sums, red: { seed, faults } }
    }
  }
  return { plant, ...sums }
}

function urlOf(url: string, schema: string): string {
  const own = new URL(url)
  own.searchParams.set('options', `-c search_path=${schema}`)
  return own.href
}

if (!isMainThread) {
  const { url, histories } = workerData as PackRun
  const results: PackRunResult[] = []
  for (const each of histories) results.push(await simulateAll(url, each))
  parentPort?.postMessage(results)
}
