// New versions under load, of a function and of a workload, and the way of a large image to its first answer.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ergon } from '../test/start-ergon.ts'
import { writeServerImage } from '../test/workloads/image.ts'
import { ask, workloadClient } from '../test/workloads/workload-client.ts'
import type { LoadClient } from './load.ts'

export const CONNECTIONS = 8
const LOOK_MS = 10
const SETTLE_MS = 200
const ANSWER_MAX_MS = 120_000
const IMAGE_MIB = 100

export type Rollouts = {
  readonly of: string
  readonly requests: number
  /** NaN where not all versions were live under load. */
  readonly failures: number
  readonly versions: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export type RolloutSize = {
  readonly versions: number
  readonly seconds: number
  readonly images: number
}

/** Puts new versions live, one after the other, while requests run. */
export async function underRollouts(
  of: string,
  {
    url,
    client,
    size: { seconds, versions },
    deploy,
  }: {
    readonly url: URL
    readonly client: LoadClient
    readonly size: RolloutSize
    /** Resolves when the version is live. */
    deploy(nth: number): Promise<unknown>
  },
): Promise<Rollouts> {
  const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`
  const job = { port: Number(url.port), request, connections: CONNECTIONS, seconds, bytesMin: 1 }
  let live = 0
  let rolling: Promise<void> | undefined
  const roll = async () => {
    while (live < versions) {
      await deploy(live)
      live++
    }
  }
  const run = await client.run(job, () => (rolling = roll()))
  const within = live
  await rolling
  const { requests, p50Ms, p99Ms } = run
  // A version that came later has shown nothing.
  const failures = within < versions ? Number.NaN : run.failures
  return { of, requests, failures, versions: within, p50Ms, p99Ms }
}

/** A folder for images, as ERGON_IMAGE_FOLDER. */
export function imageFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'ergon-bench-images-'))
  // Cells have users of their own.
  chmodSync(path, 0o755)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export async function workloadRollouts(
  ergon: Ergon,
  { folder, client, size }: { folder: string; client: LoadClient; size: RolloutSize },
): Promise<Rollouts> {
  const owner = workloadClient(ergon)
  writeServerImage(join(folder, 'server'))
  const image = `oci:${folder}/server:v1`
  const deploy = (nth: number) => owner.deploy('rolled', { image, env: { NTH: String(nth) } })
  const { url } = await deploy(-1)
  return await underRollouts('workload', { url: new URL(url), client, size, deploy })
}

/** Milliseconds from the call of the API to the first answer at the address, for new images. */
export async function largeImages(
  ergon: Ergon,
  { folder, images }: { readonly folder: string; readonly images: number },
): Promise<number[]> {
  const owner = workloadClient(ergon)
  const found: number[] = []
  for (let nth = 0; nth < images; nth++) {
    const at = join(folder, `large-${nth}`)
    mkdirSync(at)
    writeServerImage(at, { files: { 'app/large': randomBytes(IMAGE_MIB * 2 ** 20) } })
    // Kept connections that have ended in the meantime are noticed.
    await pause(SETTLE_MS)
    const beganMs = performance.now()
    const made = await owner.api('POST', '', { name: `large-${nth}`, image: `oci:${at}:v1` })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    await firstAnswer(made.body.url)
    found.push(performance.now() - beganMs)
    await owner.api('DELETE', `/large-${nth}`)
  }
  return found
}

async function firstAnswer(url: string): Promise<void> {
  const lastMs = performance.now() + ANSWER_MAX_MS
  // The ingress starts with the first workload.
  while ((await ask(url).catch(() => undefined))?.status !== 200) {
    if (performance.now() > lastMs) throw new Error(`No answer: ${url}`)
    await pause(LOOK_MS)
  }
}
