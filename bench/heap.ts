// The heap that a gateway allocates for a request, by V8's sampling profiler, which counts collected objects too, and
// the heap that is left of it after a collection.
import { setTimeout as pause } from 'node:timers/promises'
import { CELLS, requestOf, type Cell } from './gateway.ts'
import { startLoadClient, WARM_UP_SHARE, type LoadClient } from './load.ts'
import type { Section } from './report.ts'
import { startErgonTarget, startServer, type Target } from './targets.ts'

const KIB = 1024
/** The most that a whole answer may allocate. */
const KIB_MAX = 25
const CONNECTIONS = 32
const SECONDS = 5
/** Cold code allocates feedback of its own. */
const WARM_UPS = 3
const SAMPLING = {
  samplingInterval: 8 * KIB,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
}
/** A process of Node.js opens it at SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list'
const TRIES = 100
const REST_MS = 50

type Inspector = { ask<T>(method: string, params?: object): Promise<T>; close(): void }
type ProfileNode = { readonly selfSize: number; readonly children: readonly ProfileNode[] }
type Heap = { readonly allocatedKib: number; readonly keptKib: number; readonly requests: number }

export async function runHeap(): Promise<Section> {
  const client = startLoadClient()
  const upstream = await startServer('upstream', 'mock-upstream.ts')
  const ergon = await startErgonTarget(upstream.port)
  try {
    const [pid = 0] = ergon.pids
    const inspector = await inspect(pid)
    const found: [string, Heap][] = []
    for (const cell of CELLS) found.push([cell.name, await measure(inspector, client, ergon, cell)])
    inspector.close()
    return sectionOf(found)
  } finally {
    client.close()
    await ergon.close()
    await upstream.close()
  }
}

async function measure(
  inspector: Inspector,
  client: LoadClient,
  target: Target,
  cell: Cell,
): Promise<Heap> {
  const job = {
    port: target.port,
    request: requestOf(target, cell),
    connections: CONNECTIONS,
    seconds: SECONDS,
    bytesMin: 200,
  }
  for (let times = 0; times < WARM_UPS; times++) await client.run(job, () => undefined)
  const usedBefore = await usedBytes(inspector)
  await inspector.ask('HeapProfiler.startSampling', SAMPLING)
  const { requests: counted, failures } = await client.run(job, () => undefined)
  const { profile } = await inspector.ask<{ profile: { head: ProfileNode } }>(
    'HeapProfiler.stopSampling',
  )
  if (failures > 0) throw new Error(`${failures} requests of "${cell.name}" failed`)
  const requests = Math.round(counted * (1 + WARM_UP_SHARE)) + CONNECTIONS
  await target.quiet()
  const kept = (await usedBytes(inspector)) - usedBefore
  const kib = (bytes: number) => bytes / requests / KIB
  return { allocatedKib: kib(sizeOf(profile.head)), keptKib: kib(kept), requests }
}

const sizeOf = ({ selfSize, children }: ProfileNode): number =>
  children.reduce((sum, child) => sum + sizeOf(child), selfSize)

async function usedBytes(inspector: Inspector): Promise<number> {
  await inspector.ask('HeapProfiler.collectGarbage')
  return (await inspector.ask<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize
}

async function inspect(pid: number): Promise<Inspector> {
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await addressOf())
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  let last = 0
  return {
    ask: <T>(method: string, params = {}) =>
      new Promise<T>((resolve) => {
        waiting.set(++last, resolve as (result: unknown) => void)
        socket.send(JSON.stringify({ id: last, method, params }))
      }),
    close: () => socket.close(),
  }
}

async function addressOf(): Promise<string> {
  for (let times = 0; times < TRIES; times++) {
    const [first] = await fetch(INSPECTOR)
      .then(async (answer) => (await answer.json()) as { webSocketDebuggerUrl: string }[])
      .catch(() => [])
    if (first !== undefined) return first.webSocketDebuggerUrl
    await pause(REST_MS)
  }
  throw new Error(`The gateway opened no inspector: ${INSPECTOR}`)
}

const sectionOf = (found: readonly [string, Heap][]): Section => ({
  name: 'heap',
  title: 'Heap for a request',
  bars: found.slice(0, 1).map(([name, { allocatedKib }]) => ({
    what: `heap that the gateway allocates: ${name}`,
    value: allocatedKib,
    most: KIB_MAX,
    digits: 1,
    unit: 'KiB',
  })),
  tables: [
    {
      caption: 'Of the gateway, for a request',
      columns: ['request', 'requests', 'allocated, KiB', 'left after a collection, KiB'],
      rows: found.map(([name, { allocatedKib, keptKib, requests }]) => [
        name,
        String(requests),
        allocatedKib.toFixed(1),
        keptKib.toFixed(2),
      ]),
    },
  ],
  notes: [
    'Sampled each 8 KiB, collected objects included; buffers outside of the heap are not counted.',
  ],
})
