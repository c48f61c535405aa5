// The connection of wakes beside the pool, on a real server whose process of that connection stands still.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cachedInstall, quiet, startTestServer, whyNoServer } from '#postgres/testing.ts'
import { connectState } from '#state/connect.ts'
import { connectWakes } from './wakes.ts'

// The pool's own limit is 35 s.
const OPTIONS = { skip: whyNoServer(), timeout: 25_000 }
const PID = 'select pg_backend_pid() as pid'

test('wakes are answered by the pool while their connection is silent', OPTIONS, async () => {
  await using server = await startTestServer(await cachedInstall(), { fsync: 'off' })
  const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
  await using state = connectState({ address, connections: 2, log: quiet })
  await using wakes = connectWakes({ address, state, log: quiet })
  const pidOf = async () => (await wakes.query<{ pid: number }>(PID)).rows[0]?.pid ?? 0
  const first = await pidOf()
  assert.equal(await pidOf(), first, 'one connection')
  process.kill(first, 'SIGSTOP')
  try {
    const answers = await Promise.all([pidOf(), pidOf(), pidOf()])
    assert.ok(answers.every((pid) => pid > 0 && pid !== first))
    const next = await pidOf()
    assert.equal(await pidOf(), next, 'a new connection')
  } finally {
    process.kill(first, 'SIGCONT')
  }
})
