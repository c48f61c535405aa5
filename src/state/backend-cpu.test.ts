import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTree } from '#cells/process-table.ts'
import { cachedInstall, quiet, startTestServer, whyNoServer } from '#postgres/testing.ts'
import { measureBackends } from './backend-cpu.ts'
import { connectState, type Queryable, type SqlRow } from './connect.ts'

const MS = 1e6
const WORK = 'select sum(i * i) from generate_series(1, $1::bigint) i'

test(
  'the CPU of measured connections is all of theirs, and none of their neighbours',
  { skip: whyNoServer() },
  async (t) => {
    await using server = await startTestServer(await cachedInstall())
    const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
    const upkeep = measureBackends('ergon upkeep')
    await using measured = connectState({ address, connections: 2, measured: upkeep, log: quiet })
    await using other = connectState({ address, connections: 2, log: quiet })
    /** CPU of the whole server and of the measured connections, of some work. */
    const during = async (work: () => Promise<unknown>) => {
      const all = () =>
        readTree({ leader: server.child.pid ?? 0 }).reduce(
          (sum, { ownTicks, waitedTicks }) => sum + 10 * (ownTicks + waitedTicks),
          0,
        )
      const [allMs, ownNs] = [all(), await upkeep.totalNs(other)]
      await work()
      const own = ((await upkeep.totalNs(other)) - ownNs) / MS
      return { allMs: all() - allMs, ownMs: own }
    }
    await other.query('select 1')

    const two = await during(() =>
      Promise.all([measured.query(WORK, [1e6]), measured.query(WORK, [1e6])]),
    )
    t.diagnostic(JSON.stringify(two))
    assert.ok(two.ownMs > 0.8 * two.allMs && two.ownMs < 1.05 * two.allMs + 20, JSON.stringify(two))
    const neighbour = await during(() =>
      Promise.all([other.query(WORK, [1e6]), measured.query('select pg_sleep(0.3)')]),
    )
    t.diagnostic(JSON.stringify(neighbour))
    assert.ok(neighbour.ownMs < 0.2 * neighbour.allMs, JSON.stringify(neighbour))
    const { rows } = await measured.query<{ helpers: string }>(
      "select current_setting('max_parallel_workers_per_gather') as helpers",
    )
    assert.equal(rows[0]?.helpers, '0')
  },
)

/** A state that answers the reading of processes. */
function fakeState() {
  const processes = new Map<number, number | null>()
  let reads = 0
  const state: Queryable = {
    query: <R extends SqlRow>() => {
      reads++
      const rows = [...processes].map(([pid, ns]) => ({ pid, ns }))
      return Promise.resolve({ rows: rows as unknown as R[], rowCount: rows.length })
    },
  }
  return { state, processes, reads: () => reads }
}

test('the total of measured connections never falls as their processes come and go', async () => {
  const { state, processes, reads } = fakeState()
  const cpu = measureBackends('upkeep')
  const total = () => {
    cpu.count(1)
    cpu.count(-1)
    return cpu.totalNs(state)
  }
  assert.equal(await cpu.totalNs(state), 0)
  assert.equal(reads(), 0, 'no statement has run')
  processes.set(7, 100).set(8, 50)
  assert.equal(await total(), 150)
  processes.set(7, 130).delete(8)
  assert.equal(await total(), 180)
  // Another process has the number; one has ended since it was listed.
  processes.set(7, 20).set(9, null)
  assert.equal(await total(), 200)
  assert.equal(reads(), 3)
  assert.equal(await cpu.totalNs(state), 200)
  assert.equal(reads(), 3)
  cpu.count(1)
  await cpu.totalNs(state)
  processes.set(7, 25)
  assert.equal(await cpu.totalNs(state), 205, 'a statement that runs on is read each time')
})
