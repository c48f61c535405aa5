// Power cuts while clients write into a database, whose server has the settings of a customer's: each acknowledged row
// is there when the disk comes back. ERGON_LONG=1 cuts twenty times.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DATABASE_SETTINGS } from '#databases/server/servers.ts'
import { cachedInstall, startTestServer, type TestServer } from '#postgres/testing.ts'
import { createRandom } from '../faults/random.ts'
import { killServer } from './power-cuts.ts'
import { openVolume, whyNoVolume, type Volume } from './volume.ts'
import { lostRows, makeTable, noRows, startWriters, type KeptRows, type Target } from './writers.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const CUTS = Number(process.env['ERGON_CUTS'] ?? (LONG ? 20 : 2))
const WRITERS = 8
const ROWS_MAX = 300
const DISK_MIB = 512
const PLANTED_CUTS_MAX = 5
const skip = whyNoVolume()
const timeout = LONG ? 3_600_000 : 200_000

suite('power cuts under a database', { skip, timeout }, () => {
  let volume: Volume
  before(() => {
    volume = openVolume(DISK_MIB)
  })
  after(() => volume?.[Symbol.dispose]())

  const start = async (settings: Readonly<Record<string, string>> = {}) => {
    const all = { ...DATABASE_SETTINGS, ...settings }
    const server = await startTestServer(await cachedInstall(), all, { place: volume.folder })
    const target: Target = { host: server.socketFolder, ...server.superuser, database: 'postgres' }
    await makeTable(target)
    volume.settle()
    return { server, target }
  }
  const cut = async (
    { server, target }: { readonly server: TestServer; readonly target: Target },
    kept: KeptRows,
    rows: number,
  ) => {
    const writers = startWriters(target, kept, { writers: WRITERS })
    await writers.more(rows)
    volume.cut()
    await killServer(server)
    await writers.stop()
    await volume.restore()
    server.restart()
    await server.ready()
    return await lostRows(target, kept)
  }

  test('a power cut loses no acknowledged row', async (t) => {
    const started = await start()
    await using _ = started.server
    const kept = noRows()
    for (let seed = 1; seed <= CUTS; seed++) {
      const rows = 1 + createRandom(seed).below(ROWS_MAX)
      assert.deepEqual(await cut(started, kept, rows), [], `cut ${seed}`)
    }
    t.diagnostic(`${CUTS} cuts, ${kept.rows.size} rows acknowledged, none lost`)
  })

  test('the harness finds rows that are not synced', async (t) => {
    const kept = noRows()
    for (let nth = 1; nth <= PLANTED_CUTS_MAX; nth++) {
      const started = await start({ fsync: 'off' })
      await using _ = started.server
      // A server that fails to start has lost all rows.
      const lost = await cut(started, kept, ROWS_MAX).catch((error: unknown) => [String(error)])
      t.diagnostic(`fsync=off: ${lost.length} of ${kept.rows.size} lost`)
      if (lost.length > 0) return
    }
    assert.fail('no row was lost')
  })
})
