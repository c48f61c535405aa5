import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDisk } from '#charging/disk.ts'
import { encodeHeader, encodeRecord } from '#charging/journal-record.ts'
import { createLedger } from '#ledger/ledger.ts'
import { addTestAccount, openLedgerState, testCharge } from '#ledger/test-state.fixture.ts'
import { openAccounting } from '#processes/accounting.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { settleLeftJournals } from './left-journals.ts'

const OPTIONS = { skip: whyNoState(), timeout: 120_000 }
const LEASE_NJ = 1_000_000n
const SEGMENT = '00000001.journal'

test('what a process leaves that the next start does not have', OPTIONS, async (t) => {
  await using server = await openTestUrl()
  await using state = await openLedgerState(server.of, 4)
  const ledger = createLedger(state)
  const journals = mkdtempSync(join(tmpdir(), 'ergon-left-'))
  t.after(() => rmSync(journals, { recursive: true }))
  await addTestAccount(state, { id: 'acct_1', env: 'test', lowWater: 0n })

  const settle = () =>
    settleLeftJournals({
      journals,
      running: ['agent', 'gw-1', 'storage'],
      meter: 'm1',
      state,
      log: quiet,
      signal: new AbortController().signal,
    })

  /** A life that was killed: it has a lease, and of its three charges the ledger has one. */
  async function killed(process: string): Promise<string> {
    const { session } = await ledger.openSession(process)
    const records = [1n, 2n, 3n].map((seq) => {
      const figures = { account: 'acct_1', ownNj: 5n, upstreamNj: 0n, money: 0n }
      const at = '2026-11-21T00:00:00.000Z'
      return { ...testCharge({ ...figures, session, seq, at }), debits: [] }
    })
    const wants = [{ wallet: 'free:acct_1', amount: LEASE_NJ }]
    const head = { session, number: 1n, epoch: 0n, meter: 'm1' }
    await ledger.tick({ ...head, records: records.slice(0, 1), debits: [], wants })
    const text = Buffer.concat([encodeHeader(session), ...records.map(encodeRecord)])
    createDisk(join(journals, process)).create(SEGMENT, text, 8192).close()
    return session
  }

  async function bookedOf(session: string) {
    const charges = await state.query('select from charges where session = $1', [session])
    const leases = await state.query('select from leases where session = $1', [session])
    const open = (await ledger.findSession(session))?.open
    return { charges: charges.rowCount, leases: leases.rowCount, open }
  }
  const SETTLED = { charges: 3, leases: 0, open: false }
  const alarms = async () =>
    (
      await state.query<{ kind: string; process: string }>(
        "select kind, coalesce(detail ->> 'process', detail ->> 'session') as process from alarms order by id",
      )
    ).rows.map(({ kind, process }) => [kind, process])

  await t.test('is posted, and its session ends; those that run see to their own', async () => {
    const [left, running] = [await killed('gw-2'), await killed('gw-1')]
    assert.deepEqual(await bookedOf(left), { charges: 1, leases: 1, open: true })
    await settle()
    assert.deepEqual(await bookedOf(left), SETTLED)
    assert.ok(!existsSync(join(journals, 'gw-2', SEGMENT)))
    assert.deepEqual(await bookedOf(running), { charges: 1, leases: 1, open: true })
    assert.deepEqual(await alarms(), [])
  })

  await t.test('is posted once, when a start is killed before it drops the journal', async () => {
    const left = await killed('gw-2')
    const journal = join(journals, 'gw-2', SEGMENT)
    const disk = createDisk(join(journals, 'gw-2'))
    const text = disk.read(SEGMENT)
    await settle()
    writeFileSync(journal, text)
    await settle()
    assert.deepEqual(await bookedOf(left), SETTLED)
    assert.deepEqual(await alarms(), [])
  })

  await t.test('is out of the way of a gateway that comes back under its number', async () => {
    const again = await openAccounting({
      process: 'gw-2',
      meter: 'm1',
      journalFolder: join(journals, 'gw-2'),
      state,
      log: quiet,
      forget: () => undefined,
      failed: (error) => assert.fail(String(error)),
    })
    assert.equal(again.session.id, 'gw-2.3')
    await again.close()
    await settle()
    assert.deepEqual(await alarms(), [])
  })

  await t.test('is kept and alarmed where it cannot be read, and the rest is settled', async () => {
    const damaged = await killed('gw-3')
    // Reading it fails, for root too.
    mkdirSync(join(journals, 'gw-3', '00000002.journal'))
    const whole = await killed('gw-4')
    await settle()
    assert.deepEqual(await bookedOf(damaged), { charges: 1, leases: 1, open: true })
    assert.deepEqual(await bookedOf(whole), SETTLED)
    assert.deepEqual(await alarms(), [['journal_kept', 'gw-3']])
    rmSync(join(journals, 'gw-3', '00000002.journal'), { recursive: true })
    await settle()
    assert.deepEqual(await bookedOf(damaged), SETTLED)
  })

  await t.test('is posted where its folder is a link to another disk', async () => {
    const moved = await killed('gw-6')
    const elsewhere = mkdtempSync(join(tmpdir(), 'ergon-left-'))
    t.after(() => rmSync(elsewhere, { recursive: true }))
    renameSync(join(journals, 'gw-6'), join(elsewhere, 'gw-6'))
    symlinkSync(join(elsewhere, 'gw-6'), join(journals, 'gw-6'))
    await settle()
    assert.deepEqual(await bookedOf(moved), SETTLED)
  })

  await t.test('is an alarm where the journal itself is gone, and the lease returns', async () => {
    const gone = await killed('gw-5')
    rmSync(join(journals, 'gw-5'), { recursive: true })
    await settle()
    assert.deepEqual(await bookedOf(gone), { charges: 1, leases: 0, open: false })
    assert.deepEqual((await alarms()).at(-1), ['journal_missing', gone])
  })
})
