// Object storage against minio, versitygw and s3rver: one client, the same signed requests, targets by
// turns within each round. Then what only Ergon does here: pages of a bucket with a million keys.
//
// The work of the targets differs: of the peers only minio syncs on PUT. Ergon syncs, commits, checks a token, holds a
// lease, journals, posts and seals a charge for every request.
import { stateOf } from './product.ts'
import { present } from '#base/errors.ts'
import { median, type Bar, type Section, type Table } from './report.ts'
import {
  startStorageClient,
  type StorageClient,
  type StorageJob,
  type StorageResult,
  type Wanted,
} from './storage-load.ts'
import { ERGON, startErgonStorage, startPeers, type StorageTarget } from './storage-targets.ts'

const BUCKET = 'bench'
const LISTED = 'listed'
const LARGE = 'large'
const ROUNDS = 3
const KIB = 1024
const MIB = 1024 * KIB
const LISTED_KEYS = 20_000
const LARGE_KEYS = 1_000_000
const KEYS_PER_FOLDER = 100
const PAGE = 1000
const FILL_CONNECTIONS = 32
const UPLOADS = 1000
const IDLE_MS = 3000
/** Before its rounds a cell sends this many, or for so long: a server's code is compiled well by then. */
const WARM_REQUESTS = 300
const WARM_MS = 1500
/** Rounds of 20 pages took 20 ms: one tick of the product decided them. */
const ROUND_MS = 500
const ROUND_TIMES_MAX = 20

type Cell = {
  readonly name: string
  readonly connections: number
  /** Of a warm-up and of a round, which has a multiple of them. */
  readonly requests: number
  /** The n-th request; `n` goes on over the rounds, so that a PUT never meets its own key. */
  readonly request: (n: number) => Wanted
  readonly bytesMin?: number
  /** Ratios that the product promises. */
  readonly bars?: Readonly<Record<string, number>>
  /** Written or read by one request. */
  readonly bytes?: number
}

const put = (bytes: number, connections: number, bars = {}): Cell => ({
  name: `PUT ${label(bytes)}`,
  connections,
  requests: written(bytes),
  request: (n) => ({ method: 'PUT', path: objectPath(bytes, n), bodyBytes: bytes }),
  bars,
  bytes,
})
/** Reads what the PUT of the same size wrote. */
const get = (bytes: number, count: number, connections: number, bars = {}): Cell => ({
  name: `GET ${label(bytes)}`,
  connections,
  requests: count,
  request: (n) => ({ method: 'GET', path: objectPath(bytes, n % written(bytes)) }),
  bytesMin: bytes,
  bars,
  bytes,
})
const list = (name: string, count: number, least: number, query: (n: number) => string): Cell => ({
  name,
  connections: 1,
  requests: count,
  request: (n) => ({ method: 'GET', path: `/${LISTED}`, query: query(n) }),
  bytesMin: 1000,
  bars: { versitygw: least },
})

const label = (bytes: number) => (bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`)
const objectPath = (bytes: number, n: number) => `/${BUCKET}/${bytes}/${n}`
const folderOf = (n: number) => `d${String(Math.floor(n / KEYS_PER_FOLDER)).padStart(6, '0')}`
const keyOf = (n: number) => `${folderOf(n)}/k${String(n).padStart(9, '0')}`
const encoded = (key: string) => encodeURIComponent(key)

const PUTS = new Map([
  [4 * KIB, 1200],
  [MIB, 48],
  [64 * MIB, 4],
])
/** Objects of a size that the first round has written. */
const written = (bytes: number): number => PUTS.get(bytes) ?? 0

const CELLS: readonly Cell[] = [
  put(4 * KIB, 16, { minio: 2 }),
  get(4 * KIB, 3000, 16, { versitygw: 0.85 }),
  put(MIB, 8, { versitygw: 0.8 }),
  get(MIB, 128, 8, { versitygw: 0.8 }),
  put(64 * MIB, 2, { minio: 1 }),
  get(64 * MIB, 6, 2, { versitygw: 1 }),
  list('LIST, pages of 1000 keys', 20, 4, (n) => {
    const from = (n * PAGE) % LISTED_KEYS
    const after = from === 0 ? '' : `&start-after=${encoded(keyOf(from - 1))}`
    return `list-type=2&max-keys=${PAGE}${after}`
  }),
  list('LIST, a prefix of 100 keys', 60, 2, (n) => {
    const prefix = `${folderOf(((n * 7) % (LISTED_KEYS / KEYS_PER_FOLDER)) * KEYS_PER_FOLDER)}/`
    return `list-type=2&prefix=${encoded(prefix)}`
  }),
  list('LIST, 200 common prefixes', 20, 0.8, () => 'list-type=2&delimiter=%2F'),
]

type Run = StorageResult & { readonly cpuMs: number }
type Runs = ReadonlyMap<string, readonly Run[]>

export async function runStorage(): Promise<Section> {
  const client = startStorageClient()
  const { ergon, ...own } = await startErgonStorage()
  const { peers, missing } = await startPeers()
  const targets: readonly StorageTarget[] = [own, ...peers]
  try {
    for (const target of targets) {
      progress(`filling ${target.name}`)
      await fill(client, target)
    }
    const idle = await idleShares(targets)
    const measured = new Map<string, Runs>()
    for (const cell of CELLS) {
      progress(cell.name)
      measured.set(cell.name, await rounds(client, targets, cell, idle))
    }
    progress('memory')
    const memory = await uploads(client, targets)
    await using state = stateOf(ergon)
    const njPerCpuS = await tariffOf(state)
    progress('a million keys')
    await fillLarge(state)
    await own.quiet()
    const large = await largePages(client, own)
    return sectionOf({ measured, memory, large, njPerCpuS, missing, idle })
  } finally {
    client.close()
    for (const target of targets) await target.close()
  }
}

const progress = (what: string) => process.stderr.write(`bench: ${what}\n`)

async function send(
  client: StorageClient,
  target: StorageTarget,
  job: Pick<StorageJob, 'requests' | 'connections' | 'bytesMin' | 'isHeld'> & {
    failuresMax?: number
  },
  marks: { begin?(): void; halfway?(): Promise<void> } = {},
): Promise<StorageResult> {
  const { port, keys, name } = target
  const result = await client.run({ port, keys, ...job }, marks)
  if (result.failures > (job.failuresMax ?? 0))
    throw new Error(`${name} failed ${result.failures} requests: ${result.firstFailure}`)
  return result
}

const many = (count: number, from: number, request: (n: number) => Wanted): Wanted[] =>
  Array.from({ length: count }, (_, n) => request(from + n))

/** The buckets, the keys to be listed, and so many requests of each kind that V8 has optimised it. */
async function fill(client: StorageClient, target: StorageTarget): Promise<void> {
  const buckets = [BUCKET, LISTED, LARGE].map((name): Wanted => ({
    method: 'PUT',
    path: `/${name}`,
  }))
  await send(client, target, { requests: buckets, connections: 1 })
  const keys = many(LISTED_KEYS, 0, (n) => ({
    method: 'PUT',
    path: `/${LISTED}/${keyOf(n)}`,
    bodyBytes: 16,
  }))
  await send(client, target, { requests: keys, connections: FILL_CONNECTIONS })
  const reads = many(3000, 0, (n) => ({ method: 'GET', path: `/${LISTED}/${keyOf(n)}` }))
  await send(client, target, { requests: reads, connections: 16 })
}

/** The idle share of each target in a core: subtracted later. */
async function idleShares(targets: readonly StorageTarget[]): Promise<Map<string, number>> {
  for (const target of targets) await target.quiet()
  const before = targets.map((target) => target.cpuUs())
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  return new Map(
    targets.map(({ name, cpuUs }, n) => [name, (cpuUs() - (before[n] ?? 0)) / 1000 / IDLE_MS]),
  )
}

async function rounds(
  client: StorageClient,
  targets: readonly StorageTarget[],
  cell: Cell,
  idle: ReadonlyMap<string, number>,
): Promise<Runs> {
  const runs = new Map<string, Run[]>(targets.map(({ name }) => [name, []]))
  const warmed = new Map<string, Warmed>()
  for (const target of targets) warmed.set(target.name, await warmUp(client, target, cell))
  for (let round = 0; round < ROUNDS; round++)
    for (const target of targets) {
      const { sent, times } = present(warmed.get(target.name), 'each target is warm')
      const count = cell.requests * times
      const requests = many(count, sent + round * count, cell.request)
      let [fromUs, fromMs] = [0, 0]
      const begin = () => ([fromUs, fromMs] = [target.cpuUs(), performance.now()])
      const { connections, bytesMin = 0 } = cell
      const result = await send(client, target, { requests, connections, bytesMin }, { begin })
      await target.quiet()
      const idleMs = (idle.get(target.name) ?? 0) * (performance.now() - fromMs)
      const cpuMs = ((target.cpuUs() - fromUs) / 1000 - idleMs) / result.requests
      runs.get(target.name)?.push({ ...result, cpuMs })
    }
  return runs
}

type Warmed = { readonly sent: number; readonly times: number }

/** Sends a cell's requests until the target is warm; `times` of them take about the time of a round. */
async function warmUp(client: StorageClient, target: StorageTarget, cell: Cell): Promise<Warmed> {
  const { connections, bytesMin = 0 } = cell
  const fromMs = performance.now()
  let sent = 0
  let tookMs = 0
  while (sent < WARM_REQUESTS && performance.now() - fromMs < WARM_MS) {
    const requests = many(cell.requests, sent, cell.request)
    tookMs = (await send(client, target, { requests, connections, bytesMin })).seconds * 1000
    sent += cell.requests
  }
  return { sent, times: Math.min(Math.ceil(ROUND_MS / tookMs), ROUND_TIMES_MAX) }
}

type Memory = {
  readonly name: string
  readonly restMib: number
  readonly halfwayMib: number
  readonly refused: number
}

/** Memory while a thousand uploads are half done. */
async function uploads(
  client: StorageClient,
  targets: readonly StorageTarget[],
): Promise<Memory[]> {
  const found: Memory[] = []
  for (const target of targets) {
    const restMib = target.mib()
    let halfwayMib = 0
    const requests = many(UPLOADS, 0, (n) => ({
      method: 'PUT',
      path: `/${BUCKET}/held/${n}`,
      bodyBytes: MIB,
    }))
    const halfway = async () => void (halfwayMib = target.mib())
    const job = { requests, connections: UPLOADS, isHeld: true, failuresMax: UPLOADS }
    const { failures } = await send(client, target, job, { halfway })
    found.push({ name: target.name, restMib, halfwayMib, refused: failures })
  }
  return found
}

type State = ReturnType<typeof stateOf>

async function tariffOf(state: State): Promise<number> {
  const { rows } = await state.query<{ nj: string }>(
    "select body ->> 'nj_per_cpu_s' as nj from tariffs order by at desc limit 1",
  )
  return Number(rows[0]?.nj)
}

/** A million keys, without their requests. */
async function fillLarge(state: State): Promise<void> {
  const BATCH = 100_000
  for (let from = 0; from < LARGE_KEYS; from += BATCH)
    await state.query(
      `insert into object_versions (bucket, key, seq, version_id, is_latest, size, etag, owner, modified_at,
         checksums, inline)
       select b.id, format('d%s/k%s', lpad((n / $3)::text, 6, '0'), lpad(n::text, 9, '0')),
         nextval('object_seq'), 'null', true, 10, md5(n::text), b.account, now(),
         '{"type": "FULL_OBJECT", "CRC64NVME": "rosUhgp5mIg="}', '\\x00'
       from buckets b, generate_series($1::int, $2::int) n where b.name = '${LARGE}'`,
      [from, from + BATCH - 1, KEYS_PER_FOLDER],
    )
  // As the puts of these keys would have made them.
  await state.query(
    `insert into object_folders (bucket, parent, name)
     select b.id, f.parent, f.name from buckets b, generate_series(0, $1::int) n,
       format('d%s/', lpad(n::text, 6, '0')) folder, lateral (values ('', folder), (folder, '')) f (parent, name)
     where b.name = '${LARGE}'`,
    [LARGE_KEYS / KEYS_PER_FOLDER - 1],
  )
}

async function largePages(
  client: StorageClient,
  target: StorageTarget,
): Promise<Map<string, StorageResult>> {
  const PAGES = 50
  const middle = (n: number) => encoded(keyOf((n * (LARGE_KEYS / PAGES) + 7) % LARGE_KEYS))
  const kinds: Record<string, (n: number) => string> = {
    'a page of 1000 keys': (n) => `list-type=2&start-after=${middle(n)}`,
    'a page of 1000 common prefixes': (n) =>
      `list-type=2&delimiter=%2F&start-after=${middle(n % 40)}`,
  }
  const found = new Map<string, StorageResult>()
  for (const [name, query] of Object.entries(kinds)) {
    const requests = many(PAGES, 0, (n) => ({
      method: 'GET',
      path: `/${LARGE}`,
      query: query(n),
    }))
    await send(client, target, { requests: requests.slice(0, 10), connections: 1 })
    await target.quiet()
    found.set(name, await send(client, target, { requests, connections: 1, bytesMin: 10_000 }))
  }
  return found
}

type Found = {
  readonly measured: ReadonlyMap<string, Runs>
  readonly memory: readonly Memory[]
  readonly large: ReadonlyMap<string, StorageResult>
  readonly njPerCpuS: number
  readonly missing: readonly string[]
  readonly idle: ReadonlyMap<string, number>
}

const rateOf = (run: Run): number => run.requests / run.seconds

function ratio(runs: Runs | undefined, over: string, under: string): number {
  const [a = [], b = []] = [runs?.get(over), runs?.get(under)]
  return median(a.flatMap((run, round) => (b[round] ? [rateOf(run) / rateOf(b[round])] : [])))
}

const PAGES_MS_MAX: Readonly<Record<string, number>> = {
  'a page of 1000 keys': 6,
  'a page of 1000 common prefixes': 10,
}

function sectionOf(found: Found): Section {
  const { measured, memory, large, njPerCpuS, missing, idle } = found
  const bars: Bar[] = CELLS.flatMap(({ name, bars: promised = {} }) =>
    Object.entries(promised).map(([peer, least]) => ({
      what: `${name}: ÷ ${peer}`,
      value: ratio(measured.get(name), ERGON, peer),
      least,
      digits: 2,
    })),
  )
  for (const [name, { p50Ms }] of large)
    bars.push({
      what: `1 M keys: ${name}`,
      value: p50Ms,
      most: PAGES_MS_MAX[name] ?? 0,
      digits: 1,
      unit: 'ms',
    })
  const figure = (value: number | undefined, digits: number) =>
    value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits)
  const table = (cell: Cell): Table => ({
    caption: `${cell.name}, ${cell.connections} ${cell.connections === 1 ? 'connection' : 'connections'}`,
    columns: [
      'target',
      'per s',
      'MB/s',
      '÷ minio',
      '÷ versitygw',
      'CPU ms each',
      'mJ each',
      'p50 ms',
      'p99 ms',
      '503',
    ],
    rows: [...(measured.get(cell.name) ?? [])].map(([name, runs]) => {
      const rate = median(runs.map(rateOf))
      const cpuMs = median(runs.map((run) => run.cpuMs))
      return [
        name,
        figure(rate, rate < 100 ? 1 : 0),
        figure(cell.bytes && (rate * cell.bytes) / 1e6, 0),
        figure(ratio(measured.get(cell.name), name, 'minio'), 2),
        figure(ratio(measured.get(cell.name), name, 'versitygw'), 2),
        figure(cpuMs, cpuMs < 10 ? 2 : 0),
        figure((cpuMs * njPerCpuS) / 1e9, 1),
        figure(median(runs.map((run) => run.p50Ms)), 1),
        figure(median(runs.map((run) => run.p99Ms)), 1),
        String(runs.reduce((sum, { refused }) => sum + refused, 0)),
      ]
    }),
  })
  return {
    name: 'storage',
    title: 'Object storage',
    bars,
    tables: [
      ...CELLS.map(table),
      {
        caption: 'Ergon: what a request is billed',
        columns: ['request', 'mJ billed', 'CPU mJ of all processes'],
        rows: CELLS.flatMap(({ name, bytes = 0 }) => {
          const runs = measured.get(name)?.get(ERGON) ?? []
          const billedJ = median(runs.flatMap((run) => run.billedJ ?? []))
          const cpuMs = median(runs.map((run) => run.cpuMs))
          // Larger answers state their ceiling.
          if (bytes > MIB && name.startsWith('GET')) return []
          return [[name, figure(billedJ * 1000, 1), figure((cpuMs * njPerCpuS) / 1e9, 1)]]
        }),
      },
      {
        caption: `Memory (PSS of all processes) with ${UPLOADS} uploads of 1 MiB half done`,
        columns: ['target', 'before, MiB', 'half way, MiB', 'KiB for each', 'refused in the end'],
        rows: memory.map(({ name, restMib, halfwayMib, refused }) => [
          name,
          restMib.toFixed(0),
          halfwayMib.toFixed(0),
          (((halfwayMib - restMib) * KIB) / UPLOADS).toFixed(0),
          String(refused),
        ]),
      },
      {
        caption: 'Ergon: one connection, a bucket of a million keys',
        columns: ['request', 'p50 ms', 'p99 ms'],
        rows: [...large].map(([name, { p50Ms, p99Ms }]) => [
          name,
          p50Ms.toFixed(1),
          p99Ms.toFixed(1),
        ]),
      },
    ],
    notes: [
      `Closed loop, ${ROUNDS} rounds of about ${ROUND_MS} ms or more, targets by turns, after ${LISTED_KEYS} puts and 3000 reads each, and ${WARM_REQUESTS} requests or ${WARM_MS} ms of the kind; the median over the rounds, and a ratio is the median of the ratios within a round. A 503 is sent again at once, and counted. Client and servers share the machine. CPU is that of all processes of a target, until it is at rest again, less what it takes idle (Ergon ${((idle.get(ERGON) ?? 0) * 100).toFixed(1)} % of a core: meter, ticks, heartbeats); mJ is that CPU at the tariff that the product bills at here, ${(njPerCpuS / 1e9).toFixed(2)} J per CPU-second, for every target alike.`,
      'Of the peers only minio syncs before it answers a PUT. Ergon syncs every body or commits it with its row, and charges every request: token, lease, journal, ledger, signed log are all in its figures.',
      ...(missing.length === 0
        ? []
        : [`Could not be installed here, and so is missing: ${missing.join(', ')}.`]),
    ],
  }
}
