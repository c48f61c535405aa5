// Recoveries that fail for another reason than their backups: tried some times, then given up with words.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { AgentCore } from '#node/agent-part.ts'
import { NotYet } from '#resources/reconciler.ts'
import { createRecoveries } from './recoveries.ts'

const silent = { error: () => undefined, warn: () => undefined, info: () => undefined }
const { signal } = new AbortController()
const TURNS_MAX = 1000
const TRIES_TO_SEE = 12
const DATABASE = {
  id: 'db_1',
  account: 'acct_1',
  name: 'again',
  owner: 'u_2',
  readers: [],
  wantsUpgrade: false,
}

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
      return { rows: [{ ...row, behind: null }], rowCount: 1 }
    },
  }
  const accountCells = { admit: async () => undefined }
  const core = { state, log: silent, data: { at: () => folder }, accountCells }
  const recoveries = createRecoveries(core as unknown as AgentCore, {
    recover: () => Promise.reject(new Error(`the disk of the node broke, try ${++tries}`)),
    remove: async () => undefined,
  })
  for (let nth = 0; nth < TRIES_TO_SEE && status !== 'failed'; nth++) {
    const before: number = tries
    await assert.rejects(recoveries.recover(DATABASE, signal), NotYet)
    for (let waits = 0; waits < TURNS_MAX && tries === before; waits++) await turn()
    for (let waits = 0; waits < TURNS_MAX / 10; waits++) await turn()
  }
  assert.equal(tries, 5)
  assert.deepEqual(reasons, ['the service could not recover it'])
  assert.deepEqual(alarms, ['database_restore_failed'])
  assert.equal(isCharged, false, 'its files are gone')
  await assert.rejects(recoveries.recover(DATABASE, signal), {
    code: 'database_not_restorable',
    message: 'Could not restore the database: the service could not recover it',
  })
})

/** A restore of DATABASE in its own place, with real folders; the server fails while `fails`, and rows are recorded. */
function openOwn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-recoveries-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const at = (...words: string[]) => join(folder, ...words)
  const own = at('databases', 'db_1')
  const seen = { status: 'unpacked', isEnded: false, fails: true, starts: 0 }
  const state = {
    async query(text: string) {
      if (text.includes("status = 'failed'")) seen.status = 'failed'
      if (text.includes("set status = 'done'")) seen.status = 'done'
      if (text.includes('end_restore')) {
        seen.isEnded = true
        seen.status = 'done'
      }
      const row = { status: seen.status, reason: null, least: '0/200', name: 'again', owner: 'u_2' }
      return { rows: [{ ...row, behind: '0/300' }], rowCount: 1 }
    },
  }
  const accountCells = { admit: async () => undefined }
  const core = { state, log: silent, data: { at }, accountCells }
  const recoveries = createRecoveries(core as unknown as AgentCore, {
    async recover() {
      seen.starts++
      if (seen.fails) throw new Error('the disk of the node broke')
    },
    remove: async () => rmSync(own, { recursive: true }),
  })
  const attempt = async () => {
    const before = { ...seen }
    await recoveries.recover(DATABASE, signal).catch(() => undefined)
    for (let waits = 0; waits < TURNS_MAX && isDeepStrictEqual(seen, before); waits++)
      await pause(5)
  }
  mkdirSync(at('databases', 'restored', 'db_1', 'data'), { recursive: true })
  return { at, own, seen, attempt }
}

test('a restore in the own place ends where the files of the database are there again, and removes none of them', async (t) => {
  const { at, own, seen, attempt } = openOwn(t)
  mkdirSync(join(own, 'data', 'healthy'), { recursive: true })
  for (let nth = 0; nth < TRIES_TO_SEE && seen.status === 'unpacked'; nth++) await attempt()
  assert.deepEqual(readdirSync(join(own, 'data')), ['healthy'])
  assert.deepEqual([seen.status, seen.isEnded, seen.starts], ['done', false, 0])
  assert.deepEqual(readdirSync(at('databases', 'restored')), [])
})

test('a restore in the own place goes on after a kill, removes only files of its own, and leaves no mark', async (t) => {
  const { at, own, seen, attempt } = openOwn(t)
  // A folder without a cluster is left of the lost disk.
  mkdirSync(own)
  await attempt()
  assert.ok(existsSync(join(own, 'recovering')))
  assert.deepEqual([readdirSync(at('databases', 'restored')), seen.starts], [[], 1])
  seen.fails = false
  while (seen.status === 'unpacked' && seen.starts < TRIES_TO_SEE) await attempt()
  assert.deepEqual([seen.status, seen.isEnded, seen.starts], ['done', true, 2])
  for (let waits = 0; waits < TURNS_MAX && readdirSync(own).length > 1; waits++) await pause(5)
  assert.deepEqual(readdirSync(own), ['data'])
})

test('a restore in the own place that fails for good removes the files that it made', async (t) => {
  const { own, seen, attempt } = openOwn(t)
  while (seen.status === 'unpacked' && seen.starts < TRIES_TO_SEE) await attempt()
  assert.deepEqual([seen.status, seen.starts, existsSync(own)], ['failed', 5, false])
})

test('a restore in the own place whose recovered files are not recorded yet is not recovered again', async (t) => {
  const { own, seen, attempt } = openOwn(t)
  mkdirSync(join(own, 'data'), { recursive: true })
  writeFileSync(join(own, 'recovered'), '')
  await attempt()
  assert.deepEqual([seen.status, seen.isEnded, seen.starts], ['done', true, 0])
})
