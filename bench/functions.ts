// Functions that wake and that are awake, against a plain Node.js process, workerd and podman with the same module; and
// the processes and memory of many that sleep. All take turns within each round.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readTree } from '#cells/process-table.ts'
import { FUNCTIONS_MAX } from '#contract/functions/function-limits.ts'
import type { Ergon } from '../test/start-ergon.ts'
import { findPeers, isAnswered, startPeer, type Peer, type Started } from './functions-peers.ts'
import { startLoadClient, type LoadClient } from './load.ts'
import { pssMib, treeCpuUs } from './processes.ts'
import { atRest, startProduct } from './product.ts'
import { median, type Section } from './report.ts'
import {
  CONNECTIONS,
  imageFolder,
  largeImages,
  underRollouts,
  workloadRollouts,
  type Rollouts,
  type RolloutSize,
} from './rollouts.ts'

const OURS = 'Ergon'
const SOURCE = `export default { fetch: () => new Response('hello') }\n`
const LOOK_MS = 50
const ASLEEP_MAX_MS = 60_000
const FUNDS_PUSD = '1000000000000000'

type Size = {
  readonly rounds: number
  readonly seconds: number
  /** Functions that sleep. */
  readonly idle: number
  /** Functions that are awake at once. */
  readonly awake: number
  readonly rollouts: RolloutSize
}
const WHOLE: Size = {
  rounds: 24,
  seconds: 3,
  idle: 200,
  awake: 20,
  rollouts: { versions: 3, seconds: 20, images: 3 },
}
const QUICK: Size = {
  rounds: 8,
  seconds: 1,
  idle: 10,
  awake: 5,
  rollouts: { versions: 1, seconds: 8, images: 1 },
}

type Cold = { readonly ms: number; readonly cpuMs: number; readonly mib: number }
type Warm = { readonly p50Ms: number; readonly p99Ms: number }

export async function runFunctions(isQuick = false): Promise<Section> {
  const size = isQuick ? QUICK : WHOLE
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bench-functions-'))
  const client = startLoadClient()
  const images = imageFolder()
  const ergon = await startProduct({
    ERGON_FUNCTION_IDLE_SECONDS: '1',
    ERGON_IMAGE_FOLDER: images.path,
  })
  try {
    const peers = findPeers(folder, SOURCE)
    const owner = await ownerOf(ergon)
    const url = await owner.deploy('hello')
    progress('cold')
    const cold = await coldRuns(ergon, { url, peers, rounds: size.rounds })
    progress('warm')
    const warm = await warmRuns({ url, peers, client, size })
    progress(`${size.idle} functions`)
    const many = await manyFunctions(ergon, size)
    progress('rollouts')
    const given = { folder: images.path, client, size: size.rollouts }
    const rolled = [
      await functionRollouts(owner, { url, client, size: size.rollouts }),
      await workloadRollouts(ergon, given),
    ]
    progress('large images')
    const large = await largeImages(ergon, { folder: images.path, images: size.rollouts.images })
    return sectionOf({ cold, warm, many, rolled, large, size })
  } finally {
    client.close()
    await ergon.stop()
    images.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

const progress = (what: string) => process.stderr.write(`bench: ${what}\n`)

/** An account with funds, as its owner uses functions. */
async function ownerOf(ergon: Ergon) {
  const { id: account } = await ergon.control('account.create', {})
  await ergon.control('funds.add', { account, pusd: FUNDS_PUSD })
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${ergon.baseUrl}/v1/functions${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { version: number; live_version?: number; url?: string }
  }
  return {
    /** Resolves with its address once the version is live. */
    async deploy(name: string, source = SOURCE): Promise<URL> {
      const { version } = await call('', { name, file: 'hello.mjs', source })
      for (;;) {
        const { live_version: live, url } = await call(`/${name}`)
        if (live === version && url !== undefined) return new URL(url)
        await pause(LOOK_MS)
      }
    },
  }
}

const cellsOf = async (ergon: Ergon) =>
  (await ergon.control('node.status')).cells.filter(({ name }) => name.startsWith('fn-'))

/** Resolves when no function runs. */
async function asleep(ergon: Ergon): Promise<void> {
  const lastMs = performance.now() + ASLEEP_MAX_MS
  while ((await cellsOf(ergon)).length > 0) {
    if (performance.now() > lastMs) throw new Error('A function does not fall asleep')
    await pause(LOOK_MS)
  }
  await atRest(ergon.pid)
}

async function wake({ port, pathname }: URL): Promise<void> {
  if (!(await isAnswered(Number(port), pathname))) throw new Error(`No answer: ${pathname}`)
}

async function coldRuns(
  ergon: Ergon,
  { url, peers, rounds }: { url: URL; peers: readonly Peer[]; rounds: number },
): Promise<Map<string, Cold[]>> {
  const runs = new Map<string, Cold[]>()
  const add = (name: string, run: Cold) => runs.set(name, [...(runs.get(name) ?? []), run])
  for (let round = 0; round < rounds; round++) {
    await asleep(ergon)
    const beforeUs = treeCpuUs(ergon.pid)
    const beganMs = performance.now()
    await wake(url)
    const ms = performance.now() - beganMs
    const [mib = Number.NaN] = await memoryOfEach(ergon)
    add(OURS, { ms, cpuMs: (treeCpuUs(ergon.pid) - beforeUs) / 1000, mib })
    for (const peer of peers) {
      const started = await startPeer(peer)
      add(peer.name, started)
      await started.close()
    }
  }
  return runs
}

/** PSS in MiB of each function that is awake. */
const memoryOfEach = async (ergon: Ergon): Promise<number[]> =>
  (await cellsOf(ergon)).map(({ launcher_pid: leader }) =>
    leader === null
      ? Number.NaN
      : readTree({ leader }).reduce((sum, { pid }) => sum + (pssMib(pid) ?? 0), 0),
  )

async function warmRuns(given: {
  readonly url: URL
  readonly peers: readonly Peer[]
  readonly client: LoadClient
  readonly size: Size
}): Promise<Map<string, Warm[]>> {
  const { url, peers, client, size } = given
  const started: (Pick<Started, 'close' | 'port'> & { name: string })[] = []
  const runs = new Map<string, Warm[]>()
  try {
    for (const peer of peers) started.push({ ...(await startPeer(peer)), name: peer.name })
    const ours = { name: OURS, port: Number(url.port), path: url.pathname }
    const targets = [ours, ...started.map(({ name, port }) => ({ name, port, path: '/' }))]
    for (let round = -1; round < size.rounds / 8; round++)
      for (const { name, port, path } of targets) {
        const request = `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
        const job = { port, request, connections: 1, seconds: size.seconds, bytesMin: 5 }
        const run = await client.run(job, () => undefined)
        if (run.failures > 0) throw new Error(`${name} failed ${run.failures} requests`)
        // The first round is for code that is not compiled yet.
        if (round >= 0) runs.set(name, [...(runs.get(name) ?? []), run])
      }
    return runs
  } finally {
    for (const one of started) await one.close()
  }
}

type Many = {
  readonly processes: number
  readonly asleepMib: number
  readonly awakeMib: readonly number[]
}

/** Deploys many functions, lets them sleep, and wakes some. */
async function manyFunctions(ergon: Ergon, { idle, awake }: Size): Promise<Many> {
  const treeMib = () =>
    readTree({ leader: ergon.pid }).reduce((sum, { pid }) => sum + (pssMib(pid) ?? 0), 0)
  await asleep(ergon)
  const before = treeMib()
  const urls: URL[] = []
  for (let left = idle; left > 0; left -= FUNCTIONS_MAX) {
    const owner = await ownerOf(ergon)
    for (let nth = 0; nth < Math.min(left, FUNCTIONS_MAX); nth++)
      urls.push(await owner.deploy(`many-${nth}`))
  }
  await asleep(ergon)
  const processes = (await cellsOf(ergon)).length
  const asleepMib = treeMib() - before
  await Promise.all(urls.slice(0, awake).map(wake))
  return { processes, asleepMib, awakeMib: await memoryOfEach(ergon) }
}

/** Each version answers something else. */
const functionRollouts = (
  owner: Awaited<ReturnType<typeof ownerOf>>,
  given: { readonly url: URL; readonly client: LoadClient; readonly size: RolloutSize },
): Promise<Rollouts> =>
  underRollouts('function', {
    ...given,
    deploy: (nth) => owner.deploy('hello', SOURCE.replace('hello', `hello ${nth}`)),
  })

const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

const seconds = (ms: number) => (ms / 1000).toFixed(1)

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length

const shown = (value: number, digits: number) => (Number.isNaN(value) ? '–' : value.toFixed(digits))

function sectionOf(found: {
  readonly cold: ReadonlyMap<string, readonly Cold[]>
  readonly warm: ReadonlyMap<string, readonly Warm[]>
  readonly many: Many
  readonly rolled: readonly Rollouts[]
  /** Milliseconds of each. */
  readonly large: readonly number[]
  readonly size: Size
}): Section {
  const { cold, warm, many, rolled, large, size } = found
  const node = 'node child'
  const coldOf = (name: string) => (cold.get(name) ?? []).map(({ ms }) => ms)
  const warmOf = (name: string) => median((warm.get(name) ?? []).map(({ p50Ms }) => p50Ms))
  const ratio = (name: string) =>
    median(coldOf(name).map((ms, nth) => ms / (coldOf(node)[nth] ?? Number.NaN)))
  return {
    name: 'functions',
    title: 'Functions',
    bars: [
      { what: 'cold: p50', value: median(coldOf(OURS)), most: 10, digits: 1, unit: 'ms' },
      { what: `cold: of a ${node}`, value: ratio(OURS), most: 0.2, digits: 2 },
      {
        what: `warm: p50 above a ${node}`,
        value: warmOf(OURS) - warmOf(node),
        most: 0.3,
        digits: 2,
        unit: 'ms',
      },
      { what: 'processes of functions that sleep', value: many.processes, most: 0 },
      ...rolled.map(({ of, failures }) => ({
        what: `rollouts of a ${of} under load: failed requests`,
        value: failures,
        most: 0,
      })),
    ],
    tables: [
      {
        caption: 'From the request, or the start of the process, to the first answer',
        columns: ['runs it', 'p50 ms', 'p99 ms', `p50 of a ${node}`, 'CPU ms', 'memory MiB'],
        rows: Array.from(cold, ([name, runs]) => [
          name,
          at(coldOf(name), 0.5).toFixed(1),
          at(coldOf(name), 0.99).toFixed(1),
          ratio(name).toFixed(2),
          shown(mean(runs.map(({ cpuMs }) => cpuMs)), 0),
          shown(median(runs.map(({ mib }) => mib)), 0),
        ]),
      },
      {
        caption: 'Requests one after another on one connection',
        columns: ['runs it', 'p50 ms', 'p99 ms'],
        rows: Array.from(warm, ([name, runs]) => [
          name,
          warmOf(name).toFixed(2),
          median(runs.map(({ p99Ms }) => p99Ms)).toFixed(2),
        ]),
      },
      {
        caption: `${size.idle} functions`,
        columns: ['state', 'processes of each', 'memory MiB of each'],
        rows: [
          ['asleep', '0', (many.asleepMib / size.idle).toFixed(2)],
          [`awake (${size.awake})`, '1', median(many.awakeMib).toFixed(0)],
        ],
      },
      {
        caption: `New versions under ${CONNECTIONS} connections that ask without a pause`,
        columns: ['of a', 'versions', 'requests', 'failed', 'p50 ms', 'p99 ms'],
        rows: rolled.map(({ of, versions, requests, failures, p50Ms, p99Ms }) => [
          of,
          String(versions),
          String(requests),
          String(failures),
          p50Ms.toFixed(1),
          p99Ms.toFixed(1),
        ]),
      },
    ],
    notes: [
      `Deployment of an image of 100 MiB of random bytes, from the call of the API to the first answer at its address: ${seconds(median(large))} s (median of ${large.length}, at most ${seconds(Math.max(...large))} s).`,
      "CPU of Ergon is that of the whole product until the answer; the next spare process starts later. A function's answer passes the ingress; the others are asked directly.",
    ],
  }
}
