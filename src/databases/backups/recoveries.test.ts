// Recoveries that fail for another reason than their backups: tried some times, then given up with words.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { AgentCore } from '#node/agent-part.ts'
import { NotYet } from '#resources/reconciler.ts'
import { createRecoveries } from './recoveries.ts'

const silent = { error: () => undefined }
const { signal } = new AbortController()
const TURNS_MAX = 1000
const TRIES_TO_SEE = 12

test('a recovery that fails for a fault of the service ends after some tries, and both sides are told', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-recoveries-'))
  t.after(() => rmSync(folder, { recursive: true }))
  let status = 'unpacked'
  let tries = 0
  let isCharged = true
  const reasons: unknown[] = []
  const alarms: unknown[] = []
  const state = {
    async query(text: string, values: readonly unknown[]) {
      if (text.includes('raise_alarm')) alarms.push(values[0])
      if (text.includes("status = 'failed'")) {
        status = 'failed'
        isCharged = !text.includes('stored_bytes = 0, wal_bytes = 0')
        reasons.push(values[1])
      }
      const row = { status, reason: reasons[0] ?? null, least: '0/0', name: 'notes', owner: 'u_1' }
      return { rows: [row], rowCount: 1 }
    },
  }
  const accountCells = { admit: async () => undefined }
  const core = { state, log: silent, data: { at: () => folder }, accountCells }
  const recoveries = createRecoveries(core as unknown as AgentCore, {
    recover: () => Promise.reject(new Error(`the disk of the node broke, try ${++tries}`)),
    remove: async () => undefined,
  })
  const database = {
    id: 'db_1',
    account: 'acct_1',
    name: 'again',
    owner: 'u_2',
    readers: [],
    wantsUpgrade: false,
  }
  for (let nth = 0; nth < TRIES_TO_SEE && status !== 'failed'; nth++) {
    const before: number = tries
    await assert.rejects(recoveries.recover(database, signal), NotYet)
    for (let waits = 0; waits < TURNS_MAX && tries === before; waits++) await turn()
    for (let waits = 0; waits < TURNS_MAX / 10; waits++) await turn()
  }
  assert.equal(tries, 5)
  assert.deepEqual(reasons, ['the service could not recover it'])
  assert.deepEqual(alarms, ['database_restore_failed'])
  assert.equal(isCharged, false, 'its files are gone')
  await assert.rejects(recoveries.recover(database, signal), {
    code: 'database_not_restorable',
    message: 'Could not restore the database: the service could not recover it',
  })
})
