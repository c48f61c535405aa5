// The end of a job that the energy of another server ends: by the agent's socket, with rows that no state has.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createAwakeServer } from '#databases/agent-socket/awake-server.ts'
import { fault } from '#contract/errors.ts'
import { quiet } from '#postgres/testing.ts'
import { doJob } from './do-job.ts'
import type { WorkDeps } from './job.ts'

test('a restore whose source cannot be paid is unpaid, and says how far it could go', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-do-job-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const row = {
    id: 'db_1',
    account: 'acct_a',
    name: 'notes',
    logins: [],
    isWanted: true,
    isSuspended: false,
    held: null,
    attempts: 1,
    backup: null,
    until: null,
    wanted: 'deployed',
    isEnded: false,
    isWhole: false,
    storedAt: new Date('2026-03-01T14:30:00Z'),
  }
  const state = { query: async () => ({ rows: [row], rowCount: 1 }) }
  const agent = { socketPath: join(folder, 'awake.sock'), secret: 'secret' }
  const server = createAwakeServer({ proxies: 1, state: state as never, log: quiet })
  t.after(() => server.close())
  await server.listen(agent, {
    certificate: { follow: () => undefined },
    servers: { use: () => Promise.reject(fault('balance_depleted', 'there is no money')) },
  })
  const log = { ...quiet, error: () => assert.fail('the operator has nothing to do') }
  const deps = { state, agent, clock: systemClock, log, superuserPassword: '' }
  const { failure } = await doJob(
    deps as unknown as WorkDeps,
    { kind: 'restore', id: 'db_2', database: 'db_1' },
    new AbortController().signal,
  )
  assert.match(failure?.reason ?? '', /restored to 2026-03-01T14:30:00\.000Z or before.*cannot pay/)
  assert.equal(failure?.isUnpaid, true)
})
