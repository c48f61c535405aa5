// An error of the disk at a system call of a gateway, or of its PostgreSQL, during one act: the client's answer, the
// operations that still work, and the content after a restart.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { childrenOf } from '../faults/processes.ts'
import { ACTS, BUCKET, type Target } from './acts.ts'
import { chargeFaults, type Harness } from './crash-points.ts'
import { digestOf } from './kept.ts'
import { s3Call, type S3Answer } from './s3-call.ts'
import { inject } from './strace.ts'

const QUIET_MAX_MS = 60_000
const POLL_MS = 10

export type DiskError = {
  readonly act: string
  readonly call: string
  readonly error: 'EIO' | 'ENOSPC'
  /** The n-th call of each thread. */
  readonly at: number
  /** The process whose calls fail; the gateway by default. */
  readonly of?: 'postgres'
}

export type Outcome = {
  /** The system calls that failed. */
  readonly hit: readonly string[]
  /** The status of the answer; undefined when none came. */
  readonly status: number | undefined
  /** The status of a further write; undefined when the gateway is gone. */
  readonly next: number | undefined
  /** The gateway's exit code, or undefined while it runs. */
  readonly code: number | null | undefined
  /** Content that was lost, torn or cannot be read. */
  readonly faults: readonly string[]
}

/** Does an act with an error at one call, a further write, a read, a restart; all is read again. */
export async function failOnce(harness: Harness, error: DiskError): Promise<Outcome> {
  const { world, kept } = harness
  const target: Target = { port: harness.gateway.port, token: world.token }
  const place = `${BUCKET}/errors-${randomUUID()}`
  const { older, answer, isGone, hit } = await actWithError(harness, error, place)
  const faults: string[] = []
  let next: number | undefined
  if (!isGone) {
    await world.server.ready()
    next = (await doAct(harness, target, 'put into a file', `${place}-next`)).answer?.status
    const read = await s3Call(target, { method: 'GET', path: `${place}-older` })
    kept.heard(read)
    if (read === undefined || digestOf(read.body) !== older.content)
      faults.push(`what was stored before is not read any more: ${read?.status}`)
  }
  const code = harness.gateway.end()?.code
  await harness.gateway.stop()
  harness.gateway = await world.gateway(harness.options)
  const after = { port: harness.gateway.port, token: world.token }
  faults.push(...(await chargeFaults(world, kept)), ...(await kept.check(after, place)))
  return { hit, status: answer?.status, next, code, faults }
}

/** Does an act on a path, and another before it, with an error at one call; says whether the gateway is gone. */
export async function actWithError(harness: Harness, error: DiskError, path: string) {
  const target: Target = { port: harness.gateway.port, token: harness.world.token }
  const older = await doAct(harness, target, 'put into a file', `${path}-older`)
  const { request, effect } = await actOf(error.act)(harness.kept, target, path)
  await quiet(harness, older.answer)
  const isServer = error.of === 'postgres'
  const trace = await inject(isServer ? serverPids(harness) : [harness.gateway.pid], {
    calls: error.call,
    fault: `error=${error.error}`,
    when: error.at,
    // PostgreSQL starts its processes anew: those find a disk that works.
    follow: !isServer,
  })
  let hit: string[] = []
  let answer: S3Answer | undefined
  let isGone = false
  try {
    answer = await harness.kept.write(target, request, effect)
    isGone = await quiet(harness, answer)
  } finally {
    hit = await trace.end()
  }
  return { older, answer, isGone, hit }
}

function actOf(name: string) {
  const found = ACTS[name]
  if (found === undefined) throw new TypeError(`no act ${name}`)
  return found.act
}

async function doAct({ kept }: Harness, target: Target, name: string, path: string) {
  const { request, effect } = await actOf(name)(kept, target, path)
  return { answer: await kept.write(target, request, effect), content: effect.content }
}

const serverPids = ({ world }: Harness): number[] => {
  const postmaster = world.server.child.pid ?? 0
  return [postmaster, ...childrenOf(postmaster)]
}

/** Waits until the charge of an answer is posted or the gateway is gone; says which. */
async function quiet({ gateway, world }: Harness, answer: S3Answer | undefined): Promise<boolean> {
  const deadline = performance.now() + QUIET_MAX_MS
  for (;;) {
    if (gateway.end() !== undefined) return true
    const missing = answer?.receipt === undefined ? [] : await pending(world, answer.receipt)
    if (answer !== undefined && missing.length === 0) return gateway.end() !== undefined
    if (performance.now() > deadline) throw new Error('neither ended nor posted')
    await pause(POLL_MS)
  }
}

/** A state that is away for a moment says nothing. */
const pending = (world: Harness['world'], receipt: string) =>
  world.uncharged([receipt]).catch(() => ['the state is away'])
