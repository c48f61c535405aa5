// The energy side of the storage bench: the CPU of targets at rest, and whether Ergon bills more energy than the CPU of its
// processes makes. That CPU is read from /proc, so the product's own meter has no part in the check.
import { setTimeout as pause } from 'node:timers/promises'
import { spanOf } from '../test/charging/energy-span.ts'
import type { Ergon } from '../test/start-ergon.ts'
import type { Bar } from './report.ts'
import type { StorageTarget } from './storage-targets.ts'

const SAMPLE_MS = 1000
/** Seconds of a poll: a target rests when a poll has used as much as the poll before, within a fifth. */
const POLL_SAMPLES = 5
const POLLS_MAX = 12
const SETTLED = 0.2
/** The part of a core that a target at rest uses: a target that uses less is at rest whatever the poll before was. */
const REST_SHARE = 0.005
const NS_PER_S = 1e9
/** The steps of a process's CPU counter, at both ends of a span. */
const STEP_MS = 10

type Sampled = Pick<StorageTarget, 'name' | 'cpuUs' | 'quiet'>

/**
 * The share of a core that each target uses at rest. Work that was left, such as seals and vacuums, falls for some
 * seconds: 3 s right after the load read 11 % where 2 % was true. Throws when a target does not come to rest.
 */
export async function idleShares(
  targets: readonly Sampled[],
  sampleMs = SAMPLE_MS,
): Promise<Map<string, number>> {
  for (const target of targets) await target.quiet()
  const found = new Map<string, number>()
  let before = new Map<string, number>()
  for (let poll = 0; poll < POLLS_MAX && found.size < targets.length; poll++) {
    const now = await shares(targets, sampleMs)
    for (const [name, share] of now)
      if (share < REST_SHARE || Math.abs(share / (before.get(name) ?? Infinity) - 1) < SETTLED)
        found.set(name, Math.min(share, found.get(name) ?? share))
    before = now
  }
  const busy = targets.filter(({ name }) => !found.has(name)).map(({ name }) => name)
  if (busy.length > 0) throw new Error(`Does not come to rest: ${busy.join(', ')}`)
  return found
}

async function shares(targets: readonly Sampled[], sampleMs: number): Promise<Map<string, number>> {
  const fromUs = targets.map((target) => target.cpuUs())
  const fromMs = performance.now()
  await pause(POLL_SAMPLES * sampleMs)
  const elapsedMs = performance.now() - fromMs
  return new Map(
    targets.map(({ name, cpuUs }, n) => [name, (cpuUs() - (fromUs[n] ?? 0)) / 1000 / elapsedMs]),
  )
}

/** Energy of one kind of request, rest to rest. */
export type BilledSpan = {
  readonly billedNj: number
  /** CPU of all processes, without their CPU at rest, at the tariff. */
  readonly usedNj: number
  /** The error of the processes' counters. */
  readonly errorNj: number
}

/** Measures the bill and the CPU of some work. */
export async function billedSpan(
  { ergon, target, idleShare }: { ergon: Ergon; target: StorageTarget; idleShare: number },
  work: () => Promise<void>,
): Promise<BilledSpan> {
  let [fromUs, fromMs, usedMs] = [0, 0, 0]
  const { billedNj, windows } = await spanOf(ergon, async () => {
    ;[fromUs, fromMs] = [target.cpuUs(), performance.now()]
    await work()
    // Ticks and seals of the last requests are theirs.
    await target.quiet()
    usedMs = (target.cpuUs() - fromUs) / 1000 - idleShare * (performance.now() - fromMs)
  })
  // Requests are billed at the tariff of their admission.
  const njPerCpuS = Math.max(...windows.map(({ tariffNjPerCpuS }) => Number(tariffNjPerCpuS)))
  const toNj = (ms: number) => (ms * 1e6 * njPerCpuS) / NS_PER_S
  return {
    billedNj: Number(billedNj),
    usedNj: toNj(usedMs),
    errorNj: toNj(STEP_MS * Math.sqrt(target.processes())),
  }
}

/** No kind of request is billed more than its processes used: missed where that is beyond the error of the counters. */
export const billedBars = (spans: ReadonlyMap<string, BilledSpan>): Bar[] =>
  [...spans].map(([name, { billedNj, usedNj, errorNj }]) => ({
    what: `${name}: energy billed ÷ CPU of all processes, at least`,
    value: billedNj / (usedNj + errorNj),
    most: 1,
    digits: 3,
  }))
