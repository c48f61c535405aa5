// Each account pays for its own backups and restores: the CPU that the kernel counts of their processes, while a restore
// of one account goes on beside a large backup of another one. The charges of both are what the meter's windows have of
// their cells.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onceDone } from '#base/once-done.ts'
import { NS_PER_TICK, readTree } from '#cells/process-table.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { parseWindow } from '#metering/window-record.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { backUpNightly, isBackupDone, until, withClient } from './driver.ts'

product(PLAIN)

/** 80 MB that do not compress: seconds of CPU of a backup. */
const HEAVY_ROWS = 10_000
const ROW_BYTES = 8192
/** The kernel's count is read so often, and the books. */
const LOOK_MS = 100
const BOOKS_MS = 500
/** A job uses this after the last count of its CPU, at most; ticks that are not whole are in it too. */
const UNSEEN = { ofCount: 0.1, ns: 60_000_000 }
/** For the starts of a server and of a job, and some of its work. */
const ROOM_J = 6
const CHARGED_MS = 4000
/** The cell that stores the logs of all servers. */
const LOGS = 'db-backups'
/** Its start and its rest, which no server pays, are at most so much of its CPU. */
const OWN_PART_MAX = 0.5

type Customer = {
  readonly account: string
  ask(method: string, path: string, body?: object): Promise<Record<string, string>>
}

async function newCustomer(): Promise<Customer> {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    account,
    async ask(method, path, body) {
      const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const answer = await fetch(`${ergon.baseUrl}/v1/databases${path}`, sent)
      const text = await answer.text()
      assert.ok(answer.ok, `${method} ${path}: ${text}`)
      return JSON.parse(text) as Record<string, string>
    },
  }
}

const deployed = async ({ ask }: Customer, name: string): Promise<string> => {
  let id = ''
  await until(`${name} is deployed`, async () => {
    const found = await ask('GET', `/${name}`)
    id = found['id'] ?? ''
    return found['status'] === 'deployed'
  })
  return id
}

/** A database of a customer with random bytes. Returns its id. */
async function made(customer: Customer, name: string, rows: number): Promise<string> {
  await customer.ask('POST', '', { name })
  const id = await deployed(customer, name)
  const { url = '' } = await customer.ask('GET', `/${name}/url`)
  await withClient(new URL(url), async (client) => {
    await client.query('create extension pgcrypto')
    await client.query('create table filled (bytes bytea)')
    await client.query('alter table filled alter bytes set storage external')
    await client.query(
      `insert into filled select (select string_agg(gen_random_bytes(1024), ''::bytea)
         from generate_series(1, ${ROW_BYTES / 1024} + n * 0)) from generate_series(1, $1::int) n`,
      [rows],
    )
  })
  return id
}

/** A large database of an account, and its first backup. */
const heavy = onceDone(async () => {
  const customer = await newCustomer()
  const id = await made(customer, 'heavy', HEAVY_ROWS)
  await backUpNightly(sharedErgon(), id)
  return { customer, id }
})

/** The cells of a database that charge an operation. */
const cellsOf = (id: string, operation: string): string[] => {
  const server = id.replace('_', '-')
  return operation === 'database.backup' ? [`${server}-backup`, `${server}-restore`] : [server]
}

/** Counts the CPU of the processes of a cell by the kernel, from before its start until its end. */
async function countedNs(cell: string): Promise<number> {
  const ergon = sharedErgon()
  const leaderOf = async () => {
    const { cells } = await ergon.control('node.status')
    return cells.find(({ name }) => name === cell)?.launcher_pid ?? undefined
  }
  let leader: number | undefined
  await until(`${cell} runs`, async () => (leader = await leaderOf()) !== undefined)
  let most = 0
  for (;;) {
    const tree = leader === undefined ? [] : readTree({ leader })
    if (tree.length === 0) return most * Number(NS_PER_TICK)
    most = Math.max(
      most,
      tree.reduce((sum, { ownTicks, waitedTicks }) => sum + ownTicks + waitedTicks, 0),
    )
    await pause(LOOK_MS)
  }
}

/** The end of a backup that cannot be paid. */
async function unpaidEnd(backup: string): Promise<string> {
  const ergon = sharedErgon()
  const rowOf = async () =>
    (
      await ergon.sql<{ status: string; reason: string; is_unpaid: boolean }>(
        'select status, reason, is_unpaid from database_backups where id = $1',
        [backup],
      )
    )[0]
  await until('it is ended', async () => (await rowOf())?.status === 'failed')
  const row = await rowOf()
  assert.equal(row?.is_unpaid, true, row?.reason)
  const parts = await ergon.sql('select from database_parts where backup = $1', [backup])
  assert.equal(parts.length, 0)
  return row?.reason ?? ''
}

/** Says whether the CPU of a bill is that of the kernel's count. */
const isCounted = (billedNs: number, counted: number): boolean => {
  const unseenNs = counted * UNSEEN.ofCount + UNSEEN.ns
  return billedNs >= counted - unseenNs && billedNs <= counted + unseenNs
}

type Books = {
  readonly billed: bigint
  readonly metered: bigint
  /** The CPU in these windows. */
  readonly cpuNs: number
  /** The windows that have the cells. */
  readonly windows: ReadonlySet<number>
}

/** The energy of a database's cells: as it is charged, and as the meter's windows have it. */
async function booksOf(id: string, operation: string): Promise<Books> {
  const ergon = sharedErgon()
  const cells = cellsOf(id, operation)
  const charges = await ergon.sql<{ bytes: Buffer }>(
    'select bytes from charges where operation = $1',
    [operation],
  )
  const windows = await ergon.sql<{ bytes: Buffer }>('select bytes from windows')
  const sum = (figures: readonly bigint[]) => figures.reduce((all, one) => all + one, 0n)
  const shares = windows
    .map(({ bytes }) => parseWindow(bytes))
    .flatMap(({ k, shares: all }) => all.map((share) => ({ k, ...share })))
    .filter(({ name }) => cells.includes(name))
  return {
    billed: sum(
      charges
        .map(({ bytes }) => parseCharge(bytes))
        .filter(({ resource }) => resource === `database:${id}`)
        .map(({ energy_nj: energy }) => BigInt(energy)),
    ),
    metered: sum(shares.map(({ dynamicNj, idleNj }) => dynamicNj + idleNj)),
    cpuNs: shares.reduce((all, { cpuNs }) => all + Number(cpuNs), 0),
    windows: new Set(shares.map(({ k }) => k)),
  }
}

/** The books, once all is charged. */
async function settled(id: string, operation = 'database.backup'): Promise<Books> {
  let found = await booksOf(id, operation)
  await until(`${operation} of ${id} is charged`, async () => {
    await pause(BOOKS_MS)
    found = await booksOf(id, operation)
    return found.billed > 0n && found.billed === found.metered
  })
  return found
}

/** The CPU of the process that stores logs: all of it, and the part that windows leave to the operator. */
async function logCpu(): Promise<{ readonly allNs: number; readonly ownNs: number }> {
  const ergon = sharedErgon()
  const { cells } = await ergon.control('node.status')
  const windows = await ergon.sql<{ bytes: Buffer }>('select bytes from windows')
  const own = windows
    .flatMap(({ bytes }) => parseWindow(bytes).shares)
    .filter(({ name }) => name === LOGS)
  return {
    allNs: Number(cells.find(({ name }) => name === LOGS)?.cpu_ns ?? 0),
    ownNs: own.reduce((sum, { cpuNs }) => sum + Number(cpuNs), 0),
  }
}

test('a restore beside a large backup of another account: each account pays the CPU of its own job', async (t) => {
  const ergon = sharedErgon()
  const { id: heavyId } = await heavy()
  const light = await newCustomer()
  const lightId = await made(light, 'light', 1)
  const backup = await backUpNightly(ergon, lightId)
  const before = await settled(heavyId)
  const [asked] = await ergon.sql<{ id: string }>("select want_backup($1, 'manual') as id", [
    heavyId,
  ])
  const from = { database: 'light', backup }
  const { id: besideId = '' } = await light.ask('POST', '', { name: 'beside', from })
  const [heavyCount, besideCount] = await Promise.all([
    countedNs(cellsOf(heavyId, 'database.backup')[0] ?? ''),
    countedNs(cellsOf(besideId, 'database.backup')[1] ?? ''),
  ])
  await until('the large one is done', () => isBackupDone(ergon, asked?.id ?? ''))
  const heavyBooks = await settled(heavyId)
  const beside = await settled(besideId)
  const heavyNs = heavyBooks.cpuNs - before.cpuNs
  const both = [...beside.windows].filter((k) => heavyBooks.windows.has(k)).length
  t.diagnostic(
    `beside ${beside.cpuNs / 1e6} ms of ${besideCount / 1e6}, the large one ${heavyNs / 1e6} ms of ${heavyCount / 1e6}, ${both} windows with both`,
  )
  assert.ok(both > 0, 'they were at the same time')
  assert.ok(isCounted(beside.cpuNs, besideCount), 'the bill of the restore')
  assert.ok(isCounted(heavyNs, heavyCount), 'the bill of the backup')
  // Planted: the bills of the two are swapped, or shared.
  for (const wrong of [heavyNs, (heavyNs + beside.cpuNs) / 2])
    assert.ok(!isCounted(wrong, besideCount))
  const { allNs, ownNs } = await logCpu()
  t.diagnostic(`logs: ${allNs / 1e6} ms of CPU, ${ownNs / 1e6} ms of it the operator's`)
  assert.ok(ownNs < allNs * OWN_PART_MAX, 'the server pays for its log')
  assert.deepEqual(await bookFaults(ergon), [])
})

test('a backup that uses the energy budget up is ended in its middle, in words, and leaves nothing', async (t) => {
  const ergon = sharedErgon()
  const { customer, id } = await heavy()
  const spent = async () => {
    const books = await Promise.all(
      ['cell.standing', 'database.session', 'database.backup'].map((one) => booksOf(id, one)),
    )
    return books.reduce((sum, { billed }) => sum + billed, 0n)
  }
  await customer.ask('PATCH', '/heavy', { suspended: true })
  await settled(id, 'cell.standing')
  const budgetJ = Number((await spent()) / 1_000_000_000n) + ROOM_J
  await customer.ask('PATCH', '/heavy', { energy_budget: `${budgetJ} J/day` })
  await customer.ask('PATCH', '/heavy', { suspended: false })
  await deployed(customer, 'heavy')
  const { id: backup = '' } = await customer.ask('POST', '/heavy/backups', {})
  const reason = await unpaidEnd(backup)
  t.diagnostic(`${reason}, ${Number(await spent()) / 1e9} of ${budgetJ} J`)
  assert.match(reason, /today's energy budget of this database is used up\. Raise it/)
  // The last windows of its cells are charged by then.
  await pause(CHARGED_MS)
  assert.ok((await spent()) <= BigInt(budgetJ) * 1_000_000_000n)
  assert.deepEqual(await bookFaults(ergon), [])
})
