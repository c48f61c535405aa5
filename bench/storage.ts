// Object storage against minio, versitygw and s3rver: one client, the same signed requests, targets by
// turns within each round. Then what only Ergon does here: pages of a bucket with a million keys.
//
// The work of the targets differs: of the peers only minio syncs on PUT. Ergon syncs, commits, checks a token, holds a
// lease, journals, posts and seals a charge for every request.
import { present } from '#base/errors.ts'
import { stateOf } from './product.ts'
import type { Section } from './report.ts'
import {
  BUCKET,
  CELLS,
  encoded,
  KEYS_PER_FOLDER,
  keyOf,
  LISTED,
  LISTED_KEYS,
  MIB,
  type Cell,
} from './storage-cells.ts'
import { billedSpan, idleShares, type BilledSpan } from './storage-energy.ts'
import {
  startStorageClient,
  type StorageClient,
  type StorageJob,
  type StorageResult,
  type Wanted,
} from './storage-load.ts'
import {
  ROUND_MS,
  ROUNDS,
  sectionOf,
  UPLOADS,
  WARM_MS,
  WARM_REQUESTS,
  type Memory,
  type Run,
  type Runs,
} from './storage-section.ts'
import { ERGON, startErgonStorage, startPeers, type StorageTarget } from './storage-targets.ts'

const LARGE = 'large'
const LARGE_KEYS = 1_000_000
const FILL_CONNECTIONS = 32
const ROUND_TIMES_MAX = 20

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
    const billed = new Map<string, BilledSpan>()
    const idleShare = idle.get(ERGON) ?? 0
    for (const cell of CELLS) {
      progress(cell.name)
      const work = async () =>
        void measured.set(cell.name, await rounds(client, targets, cell, idle))
      billed.set(cell.name, await billedSpan({ ergon, target: own, idleShare }, work))
    }
    progress('memory')
    const memory = await uploads(client, targets)
    await using state = stateOf(ergon)
    const njPerCpuS = await tariffOf(state)
    progress('a million keys')
    await fillLarge(state)
    await own.quiet()
    const large = await largePages(client, own)
    return sectionOf({ measured, billed, memory, large, njPerCpuS, missing, idle })
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
