// kill -9 of the process that was started, as npm start does it, while clients write: the agent below it stops in order.
// Each acknowledged row is there after the next start, and no process is left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lostRows, makeTable, noRows, startWriters, type Target } from '../durability/writers.ts'
import {
  bootstrapIn,
  call,
  leftOf,
  newFolder,
  startRaw,
  type RawStart,
} from '../faults/raw-start.ts'
import { freeBlock, portFlags } from '../ports.ts'
import type { ReadyLine } from '../start-ergon.ts'
import { until } from './driver.ts'

const WRITERS = 8
const ROWS = 200

/** Rounds: the first process alone, and all that share its process group, the agent among them. */
const KILLS: Readonly<Record<string, (pid: number) => void>> = {
  parent: (pid) => process.kill(pid, 'SIGKILL'),
  'parent and agent': (pid) => process.kill(-pid, 'SIGKILL'),
}

/** A database of the account; the target of its owner. */
async function makeDatabase(ready: ReadyLine): Promise<Target> {
  const made = await call(ready, '/v1/databases', { body: { name: 'kept' } })
  assert.equal(made.status, 201, made.body)
  await until('it is deployed', async () => {
    const { body } = await call(ready, '/v1/databases/kept')
    return (JSON.parse(body) as { status: string }).status === 'deployed'
  })
  const { body } = await call(ready, '/v1/databases/kept/url')
  const url = new URL((JSON.parse(body) as { url: string }).url)
  return {
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: url.password,
    database: url.pathname.slice(1),
    ssl: { rejectUnauthorized: false },
  }
}

test('kill -9 of the parent under writes loses no acknowledged row and leaves no process', async (t) => {
  const folder = await newFolder(t, 'initialised')
  const bootstrap = bootstrapIn(t)
  const flags = ['--data', folder, '--json', ...portFlags(await freeBlock())]
  // Under npm the first process stays the parent of the agent, also where it could become the agent.
  const start = () =>
    startRaw([process.execPath, bootstrap, 'start', ...flags], {
      env: { npm_lifecycle_event: 'start', ERGON_LOG_LEVEL: 'info' },
    })
  let running: RawStart = start()
  const target = await makeDatabase(await running.ready())
  await makeTable(target)
  const kept = noRows()
  const writers = startWriters(target, kept, { writers: WRITERS })
  try {
    for (const [name, kill] of Object.entries(KILLS)) {
      await writers.more(ROWS)
      kill(running.child.pid ?? 0)
      await running.ended()
      assert.deepEqual(await leftOf(folder), [], name)
      running = start()
      await running.ready()
      assert.deepEqual(await lostRows(target, kept), [], name)
    }
  } finally {
    await writers.stop()
  }
  assert.deepEqual(await lostRows(target, kept), [])
  t.diagnostic(`${kept.rows.size} rows acknowledged, none lost`)
  running.child.kill('SIGTERM')
  await running.ended()
  assert.deepEqual(await leftOf(folder), [])
})
