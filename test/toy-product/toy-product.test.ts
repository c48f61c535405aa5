// A product is its own files and a line in each list: the toy is added to a copy of this tree, the copy's own rules
// and types are checked, and the copy is started.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type * as Routes from '#contract/routes.ts'
import { METRICS_TOKEN } from '../settings.ts'
import type * as Books from '../books.ts'
import type * as Start from '../start-ergon.ts'
import type * as Tidy from '../../scripts/tidy.ts'
import type * as TidyContract from '../../scripts/tidy-contract.ts'
import type * as Rows from '../contract/matrix-rows.ts'
import { plantToy, toyFiles } from './lists.ts'

const ROOT = join(import.meta.dirname, '../..')
// Below this tree, whose node_modules the copy uses.
const FOLDER = join(ROOT, `.cache/toy-${process.pid}`)
const MS_MAX = 180_000
const BUDGET_NJ = 500_000_000n
const run = promisify(execFile)
const inCopy = (...argv: string[]) =>
  run(process.execPath, argv, { cwd: FOLDER, timeout: MS_MAX, maxBuffer: 1 << 24 })

let ergon: Start.Ergon
before(async () => {
  plantToy(FOLDER)
  // The copy's own, which knows the operations of the copy.
  const { startErgon } = (await import(join(FOLDER, 'test/start-ergon.ts'))) as typeof Start
  ergon = await startErgon({
    // The copy's node_modules are above it, where an isolated cell sees nothing.
    env: {
      ERGON_ISOLATION: 'plain',
      ERGON_TOY_GREETING: 'good morning',
      ERGON_METRICS_TOKEN: METRICS_TOKEN,
    },
  })
})
after(async () => {
  await ergon?.stop()
  rmSync(FOLDER, { recursive: true, force: true })
})

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${ergon.baseUrl}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
  })
const patch = (path: string, body: unknown) =>
  call(path, { method: 'PATCH', body: JSON.stringify(body) })
const count = (by: unknown) => patch('/v1/toy/count', { by })

/** Calls an operation that this tree does not have. */
const control = (name: string, asked: object = {}): Promise<unknown> =>
  ergon.control(name as never, asked as never)

/** Polls until something is found. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const signal = AbortSignal.timeout(MS_MAX)
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await pause(100, undefined, { signal })
  }
}

type Charged = {
  readonly operation: string
  readonly resource?: string
  readonly energy_nj: string
}

/** Charges of an operation to the account of the token. */
const chargesOf = async (operation: string) =>
  (
    await ergon.sql<{ bytes: Buffer }>(
      `select bytes from charges where account = $1 and convert_from(bytes, 'UTF8')::json ->> 'operation' = $2`,
      [ergon.account, operation],
    )
  ).map(({ bytes }) => JSON.parse(bytes.toString()) as Charged)

test('the types of the copy hold, and so do its rules', async () => {
  const { tidy } = (await import(join(FOLDER, 'scripts/tidy.ts'))) as typeof Tidy
  const { contractFaults } = (await import(
    join(FOLDER, 'scripts/tidy-contract.ts')
  )) as typeof TidyContract
  const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8')
  assert.deepEqual(tidy(toyFiles(), read), [])
  const sources = readdirSync(join(FOLDER, 'src'), { recursive: true, encoding: 'utf8' })
  const paths = sources.filter((name) => /\.(ts|sql)$/.test(name)).map((name) => `src/${name}`)
  assert.deepEqual(contractFaults(paths, read), [])
  // One thread takes 5.0 s of CPU, several 7.3 s. Nothing is left of the copy that a second check could begin from.
  const flags = ['--noEmit', '--singleThreaded', '--incremental', 'false']
  await run(join(ROOT, 'node_modules/.bin/tsc'), flags, { cwd: FOLDER, timeout: MS_MAX })
})

test('the reference knows the endpoint, the setting, the command, the event and the error', async () => {
  await inCopy('scripts/generate.ts')
  const page = (name: string) => readFileSync(join(FOLDER, 'docs/reference', name), 'utf8')
  const { paths } = JSON.parse(page('openapi.json')) as { paths: Record<string, object> }
  assert.ok(paths['/v1/toy/count'])
  assert.match(page('settings.md'), /ERGON_TOY_GREETING/)
  assert.match(page('cli.md'), /ergon toy tallies/)
  assert.match(page('events.md'), /## toy\.counted/)
  assert.match(page('errors.md'), /`toy_full`/)
  assert.match(JSON.stringify(paths['/v1/toy/count']), /409_[a-z_.]*toy_full/)
  const coverage = readFileSync(join(FOLDER, 'acceptance/COVERAGE.md'), 'utf8')
  for (const name of ['toy\\.count: PATCH', 'toy\\.counted', 'toy_full', 'ergon toy tallies'])
    assert.ok(new RegExp(`^\\| \`${name}.* \\| test/.*toy`, 'm').test(coverage), name)
})

test('the endpoint answers, is charged, and writes its row and its event', async () => {
  const answer = await count(2)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('x-energy-joules') ?? '', /^\d/)
  assert.deepEqual(await answer.json(), { greeting: 'good morning', count: 2 })
  const [event] = await ergon.sql("select data from events where type = 'toy.counted'")
  const data = event?.['data'] as unknown as { count: number; account_id: string }
  assert.deepEqual([data.count, data.account_id], [2, ergon.account])
  const usage = (await (await call('/v1/usage?group_by=service')).json()) as {
    data: { group: string }[]
  }
  assert.ok(
    usage.data.some(({ group }) => group === 'toy'),
    JSON.stringify(usage),
  )
})

test('the row of the matrix holds, and every route of the copy has a row', async () => {
  const { ROWS } = (await import(join(FOLDER, 'test/contract/matrix-rows.ts'))) as typeof Rows
  const { ROUTES } = (await import(join(FOLDER, 'src/contract/routes.ts'))) as typeof Routes
  assert.deepEqual(
    ROUTES.filter(({ operation }) => ROWS[operation] === undefined),
    [],
  )
  const row = ROWS['toy.count']
  assert.ok(row)
  assert.equal((await patch(row.path(), row.body)).status, 200)
  for (const { body, param } of row.badBodies ?? []) {
    const answer = await patch(row.path(), body)
    const { error } = (await answer.json()) as { error: { param: string | null } }
    assert.deepEqual([answer.status, error.param], [400, param])
  }
})

test('an error of its own has the status of its list', async () => {
  const answer = await count(1000)
  const { error } = (await answer.json()) as { error: { code: string } }
  assert.deepEqual([answer.status, error.code], [409, 'toy_full'])
})

test('a protocol beside the API answers until the energy budget of its caller is used up', async () => {
  const ping = async () => {
    const answer = await call('/toy-ping/any')
    const text = await answer.text()
    return answer.status === 200 ? text : (JSON.parse(text) as { error: { code: string } }).error
  }
  const refused = async () => (await ping()) as { code: string }
  assert.equal((await refused()).code, 'budget_exhausted')
  await control('toy.grant', { account: ergon.account, nj: String(BUDGET_NJ) })
  assert.equal(await ping(), 'pong')
  const last = await eventually(async () => {
    const answer = await ping()
    return answer === 'pong' ? undefined : (answer as { code: string })
  })
  assert.equal(last.code, 'budget_exhausted')
  const pings = await eventually(async () => {
    const all = await chargesOf('toy.ping')
    return all.some(({ energy_nj: energy }) => energy !== '0') ? all : undefined
  })
  const billed = pings.reduce((sum, { energy_nj: energy }) => sum + BigInt(energy), 0n)
  assert.ok(billed > 0n && billed <= BUDGET_NJ, String(billed))
})

test('a background task runs, and the operator sees it', async () => {
  const task = await eventually(async () => {
    const tasks = await ergon.control('task.list')
    return tasks.find(({ name, runs }) => name === 'toy.total' && runs > 0)
  })
  assert.deepEqual([task.every_ms, task.failures, task.progress], [1000, 0, { done: 1, total: 1 }])
  const { stdout } = await ergon.cli('admin', 'tasks')
  assert.match(stdout, /^toy\.total /m)
})

test('a counter is charged while nobody asks', async () => {
  await count(1)
  const [charge] = await eventually(async () => {
    const all = await chargesOf('toy.standing')
    return all.length > 0 ? all : undefined
  })
  assert.deepEqual([charge?.resource, charge?.energy_nj], ['toy:counter', '1000000'])
})

test('a cell of an account is charged by its share of the meter', async () => {
  const account = { account: ergon.account }
  await control('toy.start', account)
  await eventually(async () => {
    const { now } = await ergon.control('meter.status')
    return now?.split.find(({ payer, watts }) => payer === ergon.account && Number(watts) > 0)
  })
  await control('toy.stop', account)
  const charges = await eventually(async () => {
    const all = await chargesOf('cell.standing')
    return all.length > 0 ? all : undefined
  })
  for (const { resource, energy_nj: energy } of charges) {
    assert.match(resource ?? '', /^toy:toy_[a-z0-9]+$/)
    assert.ok(BigInt(energy) > 0n)
  }
})

test('the operator asks for the counts, on the socket and with the command line', async () => {
  await count(1)
  const rows = (await control('toy.list')) as { account: string }[]
  await assert.rejects(control('toy.list', { most: 1 }), /Could not accept most/)
  assert.deepEqual(
    rows.map(({ account }) => account),
    [ergon.account],
  )
  const { stdout } = await inCopy('src/cli/ergon.mjs', 'toy', 'tallies', '--data', ergon.dataFolder)
  assert.deepEqual(JSON.parse(stdout), rows)
})

test('the metrics have the figure of the toy', async () => {
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const asked = request(`${ergon.baseUrl}/metrics`, { headers }, async (response) => {
      let page = ''
      for await (const chunk of response) page += String(chunk)
      resolve(page)
    })
    asked.on('error', reject)
    asked.end()
  })
  assert.match(text, /^ergon_toy_counted\{[^}]*\} \d+/m)
})

test('the counts of an account are in its export, and go with it', async () => {
  const { account } = ergon
  const { token } = await ergon.control('token.create', { scope: 'billing-admin' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const url = `${ergon.baseUrl}/v1/account`
  const lines = (await (await fetch(`${url}/export`, { headers })).text()).split('\n')
  assert.ok(lines.some((line) => line.startsWith('{"record":"toy","count":"')))
  const body = JSON.stringify({ confirm: account, at_once: true })
  assert.equal((await fetch(url, { method: 'DELETE', headers, body })).status, 202)
  await eventually(async () => {
    const rows = await ergon.sql('select from account_deletions where done_at is not null')
    return rows.length > 0 ? rows : undefined
  })
  assert.deepEqual(await ergon.sql('select from toy_counts'), [])
})

test('the books of the copy add up, and its events are what the contract says', async () => {
  const { bookFaults } = (await import(join(FOLDER, 'test/books.ts'))) as typeof Books
  assert.deepEqual(await bookFaults(ergon), [])
})
