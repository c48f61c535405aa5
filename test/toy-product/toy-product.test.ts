// A product is its own files and a line in each list: the toy is added to a copy of this tree, the copy's own rules
// and types are checked, and the copy is started.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { METRICS_TOKEN } from '../settings.ts'
import type * as Start from '../start-ergon.ts'
import type * as Tidy from '../../scripts/tidy.ts'
import { plantToy, toyFiles } from './lists.ts'

const ROOT = join(import.meta.dirname, '../..')
// Below this tree, whose node_modules the copy uses.
const FOLDER = join(ROOT, `.cache/toy-${process.pid}`)
const MS_MAX = 180_000
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
const count = (by: unknown) =>
  call('/v1/toy/count', { method: 'POST', body: JSON.stringify({ by }) })

test('the types of the copy hold, and so do its rules', async () => {
  const { tidy } = (await import(join(FOLDER, 'scripts/tidy.ts'))) as typeof Tidy
  const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8')
  assert.deepEqual(tidy(toyFiles(), read), [])
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit'], { cwd: FOLDER, timeout: MS_MAX })
})

test('the reference knows the endpoint, the setting and the command', async () => {
  await inCopy('scripts/generate.ts')
  const page = (name: string) => readFileSync(join(FOLDER, 'docs/reference', name), 'utf8')
  const { paths } = JSON.parse(page('openapi.json')) as { paths: Record<string, object> }
  assert.ok(paths['/v1/toy/count'])
  assert.match(page('settings.md'), /ERGON_TOY_GREETING/)
  assert.match(page('cli.md'), /ergon toy counts/)
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
  const wrong = await count('two')
  assert.equal(wrong.status, 400)
})

test('a protocol beside the API answers on its own path', async () => {
  const answer = await call('/toy-ping/any')
  assert.deepEqual([answer.status, await answer.text()], [200, 'pong'])
})

test('the operator asks for the counts, on the socket and with the command line', async () => {
  await count(1)
  // A name that this tree does not have.
  const list = 'toy.list' as never
  const rows = (await ergon.control(list, {} as never)) as { account: string }[]
  await assert.rejects(ergon.control(list, { most: 1 } as never), /Could not accept most/)
  assert.deepEqual(
    rows.map(({ account }) => account),
    [ergon.account],
  )
  const { stdout } = await inCopy('src/cli/ergon.mjs', 'toy', 'counts', '--data', ergon.dataFolder)
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
