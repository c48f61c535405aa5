import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
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
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { quiet } from '#postgres/testing.ts'
import { openAccounting } from './accounting.ts'
import { createKeptJournals } from './kept-journals.ts'
import { settleLeftJournals } from './left-journals.ts'

const OPTIONS = { skip: whyNoState(), timeout: 120_000 }
const LEASE_NJ = 1_000_000n
const SEGMENT = '00000001.journal'

test('a journal of a process that the next start does not have', OPTIONS, async (t) => {
  await using server = await openTestUrl()
  await using state = await openLedgerState(server.of, 4)
  const ledger = createLedger(state)
  const journals = mkdtempSync(join(tmpdir(), 'ergon-left-'))
  t.after(() => rmSync(journals, { recursive: true }))
  await addTestAccount(state, { id: 'acct_1', env: 'test', lowWater: 0n })

  const running = ['agent', 'gw-1', 'storage']
  const left = { journals, running, meter: 'm1', state, log: quiet }
  const settle = () => settleLeftJournals({ ...left, signal: new AbortController().signal })
  const kept = createKeptJournals(left)

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

  const openAlarms = async (process: string) =>
    (
      await state.query('select from alarms where acknowledged_at is null and detail ->> $1 = $2', [
        'process',
        process,
      ])
    ).rowCount
  const detailOf = async (kind: string) => {
    const { rows } = await state.query<{ detail: Record<string, unknown> }>(
      'select detail from alarms where kind = $1 order by id desc limit 1',
      [kind],
    )
    return rows[0]?.detail ?? {}
  }

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

  await t.test('is seen while it is kept, and posted without a start once it can be', async () => {
    assert.deepEqual(await kept.list(), [])
    const session = await killed('gw-7')
    const damaged = join(journals, 'gw-7', '00000002.journal')
    mkdirSync(damaged)
    await settle()
    const [one, ...others] = await kept.list()
    assert.deepEqual(others, [])
    assert.deepEqual([one?.process, one?.sessions, one?.records], ['gw-7', [session], null])
    assert.match(one?.reason ?? '', /EISDIR/)
    await assert.rejects(kept.post('gw-7'), { code: 'invalid_request', message: /EISDIR/ })
    await assert.rejects(kept.post('gw-8'), { code: 'not_found' })
    rmSync(damaged, { recursive: true })
    assert.deepEqual(await kept.post('gw-7'), { process: 'gw-7', posted: true })
    assert.deepEqual(await bookedOf(session), SETTLED)
    assert.deepEqual(await kept.list(), [])
    assert.equal(await openAlarms('gw-7'), 0)
  })

  await t.test(
    'is given up only where it cannot be posted, with a record, and its files stay',
    async () => {
      const whole = await killed('gw-7')
      assert.deepEqual(await kept.drop('gw-7'), { process: 'gw-7', posted: true })
      assert.deepEqual(await bookedOf(whole), SETTLED)

      const session = await killed('gw-7')
      mkdirSync(join(journals, 'gw-7', '00000002.journal'))
      await settle()
      await state.query("update sessions set until = now() - interval '1 s' where id = $1", [
        session,
      ])
      const dropped = (await kept.drop('gw-7')) as { posted: boolean; aside: string }
      assert.equal(dropped.posted, false)
      assert.ok(existsSync(join(dropped.aside, SEGMENT)))
      assert.deepEqual(await bookedOf(session), { charges: 1, leases: 0, open: false })
      assert.equal(await openAlarms('gw-7'), 0)
      const record = await detailOf('journal_dropped')
      assert.deepEqual([record['process'], record['sessions']], ['gw-7', [session]])
      assert.equal(record['aside'], dropped.aside)
      assert.deepEqual(Object.values((await detailOf('session_written_off'))['leases'] as object), [
        String(LEASE_NJ),
      ])
      const before = await alarms()
      await settle()
      assert.deepEqual(await alarms(), before, 'the next start has nothing to say of it')
      assert.deepEqual(await kept.list(), [])
    },
  )

  await t.test('is posted around a damaged record, and the file is kept and shown', async () => {
    const session = await killed('gw-8')
    const spoil = (name: string, marker: string) => {
      const file = join(journals, 'gw-8', name)
      const bytes = readFileSync(file)
      bytes[bytes.indexOf(marker)] = 255
      writeFileSync(file, bytes)
    }
    spoil(SEGMENT, `rcpt_${session}_2`)
    await settle()
    assert.deepEqual(await bookedOf(session), { charges: 2, leases: 0, open: false })
    const loss = { session, first: '2', last: '2', lost: '1' }
    assert.deepEqual(await detailOf('journal_gap'), loss)
    const [one] = await kept.list()
    assert.deepEqual([one?.process, one?.sessions, one?.records], ['gw-8', [session], 0])
    assert.match(one?.reason ?? '', new RegExp(`lost: 2 to 2 of ${session}$`))
    const [file = ''] = one?.files ?? []
    assert.deepEqual(await detailOf('journal_damaged'), { process: 'gw-8', file })
    assert.ok(readFileSync(join(journals, 'gw-8', file)).includes(`rcpt_${session}_3`))
    await assert.rejects(kept.post('gw-8'), { code: 'invalid_request', message: /damaged/ })
    const before = await alarms()
    await settle()
    assert.deepEqual(await alarms(), before, 'the next start has nothing to say of it')
    const dropped = (await kept.drop('gw-8')) as { aside: string }
    assert.ok(existsSync(join(dropped.aside, file)))
    assert.deepEqual([await kept.list(), await openAlarms('gw-8')], [[], 0])
  })

  await t.test(
    'with a session that this state does not know is given up beside one that runs',
    async () => {
      const foreign = 'gw-1.99'
      const disk = createDisk(join(journals, 'gw-1'))
      disk.create('00000009.journal', encodeHeader(foreign), 8192).close()
      const [one] = await kept.list()
      assert.deepEqual([one?.process, one?.sessions, one?.records], ['gw-1', [foreign], 0])
      await assert.rejects(kept.post('gw-1'), { code: 'invalid_request', message: /does not know/ })
      await kept.drop('gw-1')
      assert.deepEqual(await kept.list(), [])
      assert.deepEqual(
        disk.list().filter((name) => !name.startsWith('aside-')),
        [SEGMENT],
      )
      assert.equal((await bookedOf('gw-1.1')).open, true)
    },
  )

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
