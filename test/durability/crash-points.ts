// kill -9 of a gateway at the n-th system call of a name during one act, for every n until the act runs through.
// After each kill the gateway is started again, and everything that it had acknowledged is requested.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ACTS, makeBuckets, type Step, type Target } from './acts.ts'
import type { GatewayAlone, GatewayOptions } from './gateway-alone.ts'
import { Kept } from './kept.ts'
import { inject, type Trace } from './strace.ts'
import type { World } from './world.ts'

const POINTS_MAX = 200
const POSTED_MAX_MS = 60_000
const POLL_MS = 10

export type Pass = { readonly kills: number; readonly faults: readonly string[] }

export type Harness = {
  readonly world: World
  readonly kept: Kept
  /** The options of every life of the gateway. */
  readonly options: GatewayOptions
  gateway: GatewayAlone
}

/** A gateway on a world, with the buckets of the acts. */
export async function openHarness(world: World, more: GatewayOptions = {}): Promise<Harness> {
  const options = { fileThreads: 1, ...more }
  const gateway = await world.gateway(options)
  const kept = new Kept()
  await makeBuckets(kept, { port: gateway.port, token: world.token })
  return { world, kept, options, gateway }
}

/** Kills at each call of a name during one act, until it runs through or, if so wanted, a fault is found. */
export async function killAtEach(
  harness: Harness,
  name: string,
  call: string,
  until: 'through' | 'first fault' = 'through',
): Promise<Pass> {
  const { kept } = harness
  const found = ACTS[name]
  if (found === undefined) throw new TypeError(`no act ${name}`)
  const faults: string[] = []
  const place = `${found.bucket}/${name.replaceAll(' ', '-')}-${call}-${randomUUID()}`
  for (let at = 1; at <= POINTS_MAX; at++) {
    const target = targetOf(harness)
    const step = await found.act(kept, target, `${place}-${at}`)
    const trace = await inject([harness.gateway.pid], {
      calls: call,
      fault: 'signal=SIGKILL',
      when: at,
      follow: true,
    })
    const { answer, isKilled } = await actUnderTrace(harness, step, trace)
    if (!isKilled) return { kills: at - 1, faults }
    const etag = answer?.status === 200 ? String(answer.headers['etag']) : undefined
    const point = `${name}, ${call} ${at}: `
    faults.push(...(await afterKill(harness, step, etag, place)).map((fault) => point + fault))
    if (until === 'first fault' && faults.length > 0) return { kills: at, faults }
  }
  throw new Error(`${name} has more than ${POINTS_MAX} calls of ${call}`)
}

async function actUnderTrace(harness: Harness, { request, effect }: Step, trace: Trace) {
  try {
    const answer = await harness.kept.write(targetOf(harness), request, effect)
    return { answer, isKilled: await killedBeforePosted(harness, trace, answer?.receipt) }
  } finally {
    await trace.end()
  }
}

const targetOf = ({ world, gateway }: Harness): Target => ({
  port: gateway.port,
  token: world.token,
})

/**
 * True when the gateway dies before the charge of its answer is in the ledger: then nothing of the act is left to do.
 */
async function killedBeforePosted(
  { gateway, world }: Harness,
  trace: Trace,
  receipt: string | undefined,
): Promise<boolean> {
  const deadline = performance.now() + POSTED_MAX_MS
  for (;;) {
    if (trace.killed()) {
      // Its parent hears of its end only when strace has let go.
      await trace.end()
      await gateway.ended
      return true
    }
    if (receipt !== undefined && (await world.uncharged([receipt])).length === 0)
      return trace.killed()
    if (performance.now() > deadline) throw new Error('neither killed nor posted')
    await pause(POLL_MS)
  }
}

async function afterKill(
  harness: Harness,
  step: Step,
  etag: string | undefined,
  place: string,
): Promise<string[]> {
  const { world, kept } = harness
  harness.gateway = await world.gateway(harness.options)
  const target = targetOf(harness)
  const faults = [
    ...(await chargeFaults(world, kept)),
    ...(await kept.check(target, place)),
    ...(etag === undefined || step.use === undefined ? [] : await step.use(target, etag)),
  ]
  if (step.use !== undefined || step.effect.removes !== undefined) return faults
  // The client asks again: it works, or says that there is nothing to do any more.
  const again = await kept.write(target, step.request, step.effect)
  if (again === undefined || (again.status >= 300 && again.status !== 404))
    faults.push(`the same request again: ${again?.status} ${again?.body.toString()}`)
  return faults
}

/** Receipts that clients got and that are not charged once. */
export const chargeFaults = async (world: World, kept: Kept): Promise<string[]> =>
  (await world.uncharged(kept.receipts.keys())).map(
    ({ id, times }) => `${id} was told and is charged ${times} times`,
  )
