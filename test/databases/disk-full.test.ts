// A disk that is full under the server of a database: clients get an error, no acknowledged row is lost, and the
// server goes on once there is space again. The agent ends writers before that happens (src/databases/size).
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import { DATABASE_SETTINGS } from '#databases/server/servers.ts'
import { cachedInstall, startTestServer } from '#postgres/testing.ts'
import { openVolume, whyNoVolume, type Volume } from '../durability/volume.ts'
import { until } from './driver.ts'

const DISK_MIB = 192
/** Left free, less than the write-ahead log may take. */
const FREE_MIB = 24
const ROWS_MAX = 10_000
const skip = whyNoVolume()

suite('a full disk under a database', { skip, timeout: 120_000 }, () => {
  let volume: Volume
  before(() => {
    volume = openVolume(DISK_MIB)
  })
  after(() => volume?.[Symbol.dispose]())

  /** Takes all space but so much. */
  const fill = (file: string) => {
    const free = execFileSync('df', ['--output=avail', '-BM', volume.folder], { encoding: 'utf8' })
    const leftMib = Number(/(\d+)M/.exec(free)?.[1]) - FREE_MIB
    execFileSync('fallocate', ['-l', `${leftMib}M`, file])
  }

  test('a writer is refused with 53100 or its server ends, and acknowledged rows are there', async (t) => {
    await using server = await startTestServer(
      await cachedInstall(),
      { ...DATABASE_SETTINGS },
      { place: volume.folder },
    )
    const ballast = join(volume.folder, 'ballast')
    fill(ballast)
    const connect = async () => {
      const client = new pg.Client({
        host: server.socketFolder,
        ...server.superuser,
        database: 'postgres',
      })
      client.on('error', () => undefined)
      await client.connect()
      return client
    }
    const writer = await connect()
    await writer.query(
      'create table kept (id int, body text); alter table kept alter body set storage external',
    )
    let acknowledged = 0
    const error = await (async () => {
      while (acknowledged < ROWS_MAX) {
        await writer.query('insert into kept values ($1::int, repeat(md5($1::text), 8000))', [
          acknowledged,
        ])
        acknowledged++
      }
      return undefined
    })().catch((cause: { code?: string; message: string }) => cause)
    t.diagnostic(`${acknowledged} rows, then ${error?.code}: ${error?.message}`)
    assert.match(error?.code ?? '', /^(53100|57P0[123]|ECONNRESET)$/)
    assert.ok(acknowledged > 0)
    await writer.end().catch(() => undefined)
    rmSync(ballast)
    if (server.child.exitCode !== null || server.child.signalCode !== null) server.restart()
    await server.ready()
    await until('all rows are there', async () => {
      const reader = await connect().catch(() => undefined)
      if (reader === undefined) return false
      const { rows } = await reader.query<{ count: number }>(
        'select count(distinct id)::int from kept',
      )
      await reader.query("insert into kept values (-1, '')")
      await reader.end()
      assert.ok((rows[0]?.count ?? 0) >= acknowledged, `${rows[0]?.count} of ${acknowledged}`)
      return true
    })
  })
})
