// A recovery that takes longer than a start may be silent, and a client that waits for it. The process of the recovery stands
// still (SIGSTOP) for less than that time, again and again, each time at another file of the log.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readTree } from '#cells/process-table.ts'
import { SILENT_MS } from '#databases/server/failing-start.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase, until, withClient, connectTo } from './driver.ts'

product(PLAIN)

/** 35 MB of log behind the last checkpoint. */
const ROWS = 200_000
/** Less than a start may be silent; all stops together are longer. */
const STOP_MS = 25_000
const STOPS = 3
/** The replay of some files. */
const STEP_MS = 5

const ergon = () => sharedErgon()
const titleOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

async function leaderOf(cell: string): Promise<number | undefined> {
  const { cells } = await ergon().control('node.status')
  return cells.find(({ name }) => name === cell)?.launcher_pid ?? undefined
}

/** The file of the log that a process replays. */
const fileOf = (pid: number) => /startup recovering ([0-9A-F]{24})/.exec(titleOf(pid))?.[1]

test('a recovery that takes longer than a start may be silent goes on in one life', async (t) => {
  const url = await makeDatabase(ergon(), 'slow')
  const cell = `db-${url.username.slice(2)}`
  const writer = await connectTo(url)
  await writer.query('create table many as select 0 as n, md5(0::text) as text where false')
  await writer.query('checkpoint').catch(() => undefined)
  await writer.query(`insert into many select n, md5(n::text) from generate_series(1, ${ROWS}) n`)
  await ergon().killCell(cell)
  await writer.end().catch(() => undefined)
  const served = withClient(url, async (client) => {
    const { rows } = await client.query<{ n: number }>('select count(*)::int as n from many')
    return rows[0]?.n
  })
  served.catch(() => undefined)
  let leader: number | undefined
  await until('its server starts', async () => (leader = await leaderOf(cell)) !== undefined)
  const life = leader ?? assert.fail()
  let recovering: number | undefined
  while (recovering === undefined) {
    recovering = readTree({ leader: life }).find(({ pid }) => fileOf(pid) !== undefined)?.pid
    assert.equal(await Promise.race([served.then(Boolean), pause(1)]), undefined, 'it was too fast')
  }
  const files: (string | undefined)[] = []
  try {
    for (let nth = 0; nth < STOPS; nth++) {
      process.kill(recovering, 'SIGSTOP')
      files.push(fileOf(recovering))
      await pause(STOP_MS)
      do {
        process.kill(recovering, 'SIGCONT')
        await pause(STEP_MS)
        process.kill(recovering, 'SIGSTOP')
      } while (fileOf(recovering) === files.at(-1))
    }
  } finally {
    process.kill(recovering, 'SIGCONT')
  }
  t.diagnostic(`it stood still at ${files.join(', ')}`)
  assert.ok(STOPS * STOP_MS > SILENT_MS && STOP_MS < SILENT_MS)
  assert.equal(new Set(files).size, STOPS)
  assert.equal(await served, ROWS)
  assert.equal(await leaderOf(cell), life, 'it is the same life')
  assert.deepEqual(await ergon().sql("select from events where type = 'database.failed'"), [])
})
