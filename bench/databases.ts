// Databases: our proxy against the server of the same database on its own socket, and against PgBouncer before that
// server, by turns within each round. Then what no other way has: a server that wakes, and many that are awake.
//
// Not equal: the server's own socket has neither TLS nor passwords. Only our proxy counts joules, ends sessions that
// cannot pay, and keeps a database within its size.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { makeDatabase, output } from '../test/databases/programs.ts'
import type { Ergon } from '../test/start-ergon.ts'
import { asleep, awake, wakes } from './databases-awake.ts'
import { connectAgain } from './databases-connect.ts'
import {
  DIRECT,
  findPgbench,
  FRONT,
  libpqOf,
  ownTargets,
  startBouncer,
  type DatabaseTarget,
} from './databases-targets.ts'
import {
  CLIENTS,
  CONNECT,
  DIMENSIONS,
  NEAREST,
  sectionOf,
  SELECTS,
  TPC_B,
  type Run,
  type Size,
} from './databases-section.ts'
import { cpuUs } from './processes.ts'
import { startProduct } from './product.ts'
import type { Section } from './report.ts'

const WHOLE: Size = { rounds: 5, seconds: 2, scale: 10, wakes: 30, awake: 50, vectors: 5000 }
const QUICK: Size = { rounds: 1, seconds: 1, scale: 1, wakes: 3, awake: 3, vectors: 500 }
const IDLE_S = 1

type Load = {
  readonly name: string
  readonly run: (target: DatabaseTarget) => Promise<{ perSecond: number; roundTrips: number }>
}

export async function runDatabases(isQuick = false): Promise<Section> {
  const size = isQuick ? QUICK : WHOLE
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bench-'))
  const ergon = await startProduct({ ERGON_DB_IDLE_SECONDS: String(IDLE_S) })
  try {
    await ergon.control('funds.add', { account: ergon.account, pusd: '1000000000000000' })
    const url = await makeDatabase(ergon, 'bench')
    const own = ownTargets(ergon, url)
    const { runs, builds } = await measureLoads(ergon, { own, folder, size })
    progress('a server that wakes')
    const wakesMs = await wakes(ergon, url, size.wakes)
    const left = await asleep(ergon, url)
    progress(`${size.awake} databases awake`)
    const memory = await awake(ergon, size.awake)
    return sectionOf({ runs, builds, wakesMs, left, memory, size })
  } finally {
    await ergon.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const progress = (what: string) => process.stderr.write(`bench: ${what}\n`)

type Place = {
  readonly own: readonly DatabaseTarget[]
  readonly folder: string
  readonly size: Size
}

/** All that needs the server awake: a session holds it so. */
async function measureLoads(ergon: Ergon, { own, folder, size }: Place) {
  const [front] = own
  if (front === undefined) throw new TypeError('no targets')
  const holder = await connectTo(front)
  const bouncer = await startBouncer(ergon, own)
  if (bouncer === undefined) progress('PgBouncer is left out: it is not installed')
  try {
    const pgbench = await findPgbench()
    const all = [...own, ...(bouncer === undefined ? [] : [bouncer.target])]
    const targets = all.filter(({ isTls }) => pgbench.hasTls || !isTls)
    await fill(targets[0] ?? front, pgbench.path, size)
    const runs = new Map<string, ReadonlyMap<string, readonly Run[]>>()
    for (const load of loadsOf(pgbench.path, folder, size)) {
      progress(load.name)
      runs.set(load.name, await rounds(targets, load, size))
    }
    progress('HNSW builds')
    return { runs, builds: await buildTimes(own, size) }
  } finally {
    await bouncer?.close()
    await holder.end()
  }
}

async function connectTo(target: DatabaseTarget): Promise<pg.Client> {
  const { host, port, user, password, database, isTls } = target
  const ssl = isTls && { rejectUnauthorized: false }
  const client = new pg.Client({ host, port, user, password, database, ssl })
  // It fails with its next query.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The tables of pgbench, and vectors that are the same in each run. */
async function fill(target: DatabaseTarget, pgbench: string, { scale, vectors }: Size) {
  const env = libpqOf(target)
  await output(pgbench, ['-i', '-q', '-s', String(scale)], { env })
  const client = await connectTo(target)
  await client.query(`
    create extension vector;
    select setseed(0.5);
    create table items (id int primary key, embedding vector(${DIMENSIONS}));
    insert into items
      select id, (select array_agg(random()) from generate_series(id, id + ${DIMENSIONS - 1}))
      from generate_series(1, ${vectors}) id;
    create index nearest on items using hnsw (embedding vector_l2_ops)`)
  await client.query('vacuum analyze items')
  await client.end()
}

const TPC_B_QUERIES = 7

function loadsOf(pgbench: string, folder: string, { seconds, vectors }: Size): Load[] {
  const script = join(folder, 'nearest.sql')
  writeFileSync(
    script,
    `\\set id random(1, ${vectors})
select id from items order by embedding <-> (select embedding from items where id = :id) limit 10;\n`,
  )
  const load = (name: string, queries: number, ...words: readonly string[]): Load => ({
    name,
    run: async (target) => {
      const all = ['-n', '-c', String(CLIENTS), '-T', String(seconds), ...words]
      const { perSecond, count } = countsOf(await output(pgbench, all, { env: libpqOf(target) }))
      return { perSecond, roundTrips: count * queries }
    },
  })
  return [
    ...SELECTS.map((name) => load(name, 1, '-S', '-M', name.split(' ').at(-1) ?? '')),
    load(TPC_B, TPC_B_QUERIES),
    {
      name: CONNECT,
      run: async (target) => {
        const count = await connectAgain(target, { clients: CLIENTS, seconds })
        return { perSecond: count / seconds, roundTrips: count }
      },
    },
    load(NEAREST, 1, '-M', 'prepared', '-f', script),
  ]
}

function countsOf(said: string): { perSecond: number; count: number } {
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(said)?.[1] ?? Number.NaN)
  const count = Number(/actually processed: (\d+)/.exec(said)?.[1] ?? Number.NaN)
  if (!(perSecond > 0 && count > 0) || !/failed transactions: 0 /.test(said)) throw new Error(said)
  return { perSecond, count }
}

async function rounds(targets: readonly DatabaseTarget[], load: Load, { rounds: count }: Size) {
  const runs = new Map<string, Run[]>(targets.map(({ name }) => [name, []]))
  // The first round is uncounted: caches are cold, and V8 optimises code that has run often.
  for (let round = 0; round <= count; round++)
    for (const target of targets) {
      const used = () => target.pids.reduce((sum, pid) => sum + cpuUs(pid), 0)
      const before = used()
      const { perSecond, roundTrips } = await load.run(target)
      const run = { perSecond, cpuUs: (used() - before) / roundTrips }
      if (round > 0) runs.get(target.name)?.push(run)
    }
  return runs
}

/** Seconds of a build of the index through the proxy and on the server's own socket, by turns. */
async function buildTimes(own: readonly DatabaseTarget[], { rounds: count }: Size) {
  const times = new Map<string, number[]>()
  for (let round = 0; round < Math.min(count, 3); round++)
    for (const target of own.filter(({ name }) => name === FRONT || name === DIRECT)) {
      const client = await connectTo(target)
      await client.query('drop index nearest')
      const beganMs = performance.now()
      await client.query('create index nearest on items using hnsw (embedding vector_l2_ops)')
      const took = (performance.now() - beganMs) / 1000
      times.set(target.name, [...(times.get(target.name) ?? []), took])
      await client.end()
    }
  return times
}
