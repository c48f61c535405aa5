// The bill of a database is its meter: two databases under different loads, with short connections and with parallel
// workers. ERGON_LONG=1 does forty times the work, about a minute of it.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect, isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { NS_PER_TICK, readTree } from '#cells/process-table.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { parseWindow } from '#metering/window-record.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import { cellOf, makeDatabase, output, ownProgram, withoutTls } from './programs.ts'

product(PLAIN)

const IS_LONG = process.env['ERGON_LONG'] === '1'
/** Repetitions of each load: a fixed amount of work, which a busy machine makes slower and not smaller. */
const TIMES = IS_LONG ? 40 : 1
const OFF_PERMILLE_MAX = 5
/** Dead children are counted in ticks of 10 ms, by two processes of a cell. */
const TICKS_NS = 2 * Number(NS_PER_TICK)
const CHARGED_MAX_MS = 90_000
/** The last windows of a cell are posted by then. */
const WINDOWS_AFTER_MS = 3000
const ROWS = 200_000
/** Makes every count of the table a parallel one. */
const PARALLEL = [
  'parallel_setup_cost=0',
  'parallel_tuple_cost=0',
  'min_parallel_table_scan_size=0',
  'max_parallel_workers_per_gather=2',
]
const COUNT = 'select sum(n % 7) from numbers'

let ergon: Ergon
let pgbench: string
const folder = mkdtempSync(join(tmpdir(), 'ergon-conservation-'))
const script = join(folder, 'parallel.sql')
before(async () => {
  ergon = sharedErgon()
  pgbench = await ownProgram('pgbench')
  writeFileSync(script, `${COUNT};\n`)
})
after(() => rmSync(folder, { recursive: true, force: true }))

const sql = async (url: string, text: string) =>
  await output(await ownProgram('psql'), ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', text, url], {
    env: { PGOPTIONS: PARALLEL.map((setting) => `-c ${setting}`).join(' ') },
  })
const load = (url: string, ...words: string[]) =>
  output(pgbench, ['-n', ...words, url], {
    env: { PGOPTIONS: PARALLEL.map((setting) => `-c ${setting}`).join(' ') },
  })

/** CPU of a cell in ns: by its meter, and by what the kernel says of its processes, with and without dead children. */
type CpuNs = { readonly metered: number; readonly all: number; readonly living: number }

async function cpuOf(cell: string): Promise<CpuNs> {
  const { cells } = await ergon.control('node.status')
  const found = cells.find(({ name }) => name === cell)
  assert.ok(found?.launcher_pid != null, `${cell} does not run`)
  const tree = readTree({ leader: found.launcher_pid })
  const living = tree.reduce((sum, { pid }) => sum + ranNs(pid), 0)
  const waitedTicks = tree.reduce((sum, one) => sum + one.waitedTicks, 0)
  const all = living + waitedTicks * Number(NS_PER_TICK)
  return { metered: Number(found.cpu_ns), all, living }
}

const since = (start: CpuNs, end: CpuNs): CpuNs => ({
  metered: end.metered - start.metered,
  all: end.all - start.all,
  living: end.living - start.living,
})

/** CPU of a process of one thread, to the nanosecond; its ticks of 10 ms are those of its dead children alone. */
function ranNs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

/** The energy of a cell by the meter's windows and by the charges of its account, in nJ. */
type Books = { readonly metered: bigint; readonly billed: bigint }

async function booksOf(cell: string): Promise<Books> {
  const windows = await ergon.sql<{ bytes: Buffer }>('select bytes from windows')
  const charges = await ergon.sql<{ bytes: Buffer }>(
    "select bytes from charges where operation = 'cell.standing'",
  )
  const sum = (figures: readonly bigint[]) => figures.reduce((total, one) => total + one, 0n)
  const shares = windows.flatMap(({ bytes }) => parseWindow(bytes).shares)
  const mine = charges
    .map(({ bytes }) => parseCharge(bytes))
    .filter(({ resource }) => resource === `database:${cell.replace('-', '_')}`)
  return {
    metered: sum(
      shares.flatMap(({ name, dynamicNj, idleNj }) => (name === cell ? [dynamicNj, idleNj] : [])),
    ),
    billed: sum(mine.map(({ energy_nj: energy }) => BigInt(energy))),
  }
}

/** Sessions one after the other; each leaves inside of a transaction, so that its backend ends with it. */
async function connectAgain(connectionString: string): Promise<void> {
  for (let left = 30 * TIMES; left > 0; left--) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    await client.query('begin; select sum(aid) from pgbench_accounts where bid < 2')
    await client.end()
  }
}

const permilleOff = (figure: number, truth: number) => (1000 * Math.abs(figure - truth)) / truth
const isSame = (figureNs: number, truthNs: number) =>
  permilleOff(figureNs, truthNs) <= OFF_PERMILLE_MAX || Math.abs(figureNs - truthNs) <= TICKS_NS

test('bills of two databases are what their processes used, short connections and parallel workers included', async (t) => {
  const names = ['connects', 'counts']
  const urls: string[] = []
  for (const name of names) urls.push(withoutTls(await makeDatabase(ergon, name)))
  const [connects = '', counts = ''] = urls
  await output(pgbench, ['-i', '-q', connects])
  await sql(counts, `create table numbers as select generate_series(1, ${ROWS}) as n`)
  await sql(counts, 'vacuum analyze numbers')
  assert.match(await sql(counts, `explain analyze ${COUNT}`), /Workers Launched: [12]/)
  const cells = urls.map(cellOf)
  const start = await Promise.all(cells.map(cpuOf))
  await Promise.all([
    connectAgain(connects),
    connectAgain(connects),
    load(connects, '-t', `${200 * TIMES}`),
    load(counts, '-c', '2', '-t', `${15 * TIMES}`, '-f', script),
  ])
  const end = await Promise.all(cells.map(cpuOf))
  for (const [nth, name] of names.entries()) {
    const { metered, all, living } = since(start[nth] ?? assert.fail(), end[nth] ?? assert.fail())
    const told = `${name}: ${metered / 1e6} ms of CPU metered, ${all / 1e6} ms by its processes, ${living / 1e6} ms without dead children`
    t.diagnostic(told)
    assert.ok(isSame(metered, all), told)
    // Planted: a meter that forgets children that have ended.
    assert.ok(!isSame(living, all), told)
  }
  for (const name of names) assert.equal((await ergon.cli('db', 'suspend', name)).code, 0)
  for (const [nth, { metered, billed }] of (await settled(cells)).entries()) {
    const told = `${names[nth]}: ${billed} nJ billed of ${metered} nJ metered`
    t.diagnostic(told)
    assert.ok(permilleOff(Number(billed), Number(metered)) <= OFF_PERMILLE_MAX, told)
    // Planted: a bill that leaves out a hundredth.
    assert.ok(permilleOff(Number(billed) * 0.99, Number(metered)) > OFF_PERMILLE_MAX)
  }
  for (const name of names) await ergon.cli('db', 'delete', name, '--force')
  assert.deepEqual(await bookFaults(ergon), [])
})

/** The books of cells that have stopped, once they change no more. */
async function settled(cells: readonly string[]): Promise<Books[]> {
  const deadline = performance.now() + CHARGED_MAX_MS
  for (let before: Books[] = []; ; await pause(WINDOWS_AFTER_MS)) {
    const now = await Promise.all(cells.map(booksOf))
    if (now.every(({ billed }) => billed > 0n) && isDeepStrictEqual(now, before)) return now
    assert.ok(performance.now() < deadline, `the bills do not settle: ${inspect(now)}`)
    before = now
  }
}
