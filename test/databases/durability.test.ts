// kill -9 of the server of a database, of the proxy and of the agent while clients write: each acknowledged row is there
// afterwards, and no process is left. ERGON_LONG=1 kills fifty times.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { lostRows, makeTable, noRows, startWriters, type Target } from '../durability/writers.ts'
import { orphans } from '../faults/check.ts'
import { createRandom } from '../faults/random.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase } from './driver.ts'

product(PLAIN)

const LONG = process.env['ERGON_LONG'] === '1'
const ROUNDS = Number(process.env['ERGON_ROUNDS'] ?? (LONG ? 50 : 3))
const SEED = Number(process.env['ERGON_SEED'] ?? Date.now() % 1_000_000)
const WRITERS = 8
const ROWS_MAX = 200
const PLANTED_ROUNDS_MAX = 20

let target: Target
let cell: string
before(async () => {
  const url = await makeDatabase(sharedErgon(), 'killed')
  cell = `db-${url.username.slice(2)}`
  target = {
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: url.password,
    database: url.pathname.slice(1),
    ssl: { rejectUnauthorized: false },
  }
  await makeTable(target)
})

/** Resolves when its victim is dead; the agent, when it runs again. */
const KILLS: Readonly<Record<string, () => Promise<void>>> = {
  server: () => sharedErgon().killCell(cell),
  proxy: () => sharedErgon().killCell('pg-proxy-1'),
  agent: async () => {
    await sharedErgon().kill()
    assert.deepEqual(await orphans(sharedErgon()), [], 'nothing outlives the agent')
    await sharedErgon().resume()
  },
}

test(`kill -9 in ${ROUNDS} rounds with ${WRITERS} writers loses no acknowledged row`, async (t) => {
  t.diagnostic(`ERGON_SEED=${SEED}`)
  const random = createRandom(SEED)
  const kept = noRows()
  const names = Object.keys(KILLS)
  const writers = startWriters(target, kept, { writers: WRITERS })
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const name = names[round % names.length] ?? ''
      await writers.more(1 + random.below(ROWS_MAX))
      await KILLS[name]?.()
      await writers.more(1)
      assert.deepEqual(await lostRows(target, kept), [], `round ${round}: ${name}`)
    }
  } finally {
    await writers.stop()
  }
  assert.deepEqual(await lostRows(target, kept), [])
  t.diagnostic(`${ROUNDS} kills, ${kept.rows.size} rows acknowledged, none lost`)
})

test('planted fault: rows that are acknowledged before they are in the log are lost', async (t) => {
  const kept = noRows()
  kept.next = 1_000_000_000
  const settings = 'set synchronous_commit = off'
  for (let round = 1; round <= PLANTED_ROUNDS_MAX; round++) {
    const writers = startWriters(target, kept, { writers: WRITERS, settings })
    try {
      await writers.more(ROWS_MAX)
      await KILLS['server']?.()
    } finally {
      await writers.stop()
    }
    const lost = await lostRows(target, kept)
    t.diagnostic(`round ${round}: ${lost.length} of ${kept.rows.size} lost`)
    if (lost.length > 0) return
    await pause(100)
  }
  assert.fail('no row was lost')
})
