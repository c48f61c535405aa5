import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDisk } from '#charging/disk.ts'
import { encodeHeader, encodeRecord } from '#charging/journal-record.ts'
import { readJournals } from '#charging/journal.ts'
import { openLedgerState, testCharge } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { openAccounting } from './accounting.ts'

const LOST = 'gw-1.2'
const SEGMENT = '00000007.journal'

test(
  'a state that was set back gives no session the name of one that it lost',
  {
    skip: whyNoState(),
  },
  async (t) => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 4)
    const journalFolder = mkdtempSync(join(tmpdir(), 'ergon-accounting-'))
    t.after(() => rmSync(journalFolder, { recursive: true }))
    const options = { process: 'gw-1', meter: 'm1', journalFolder, state, log: quiet }
    const open = () =>
      openAccounting({
        ...options,
        forget: () => undefined,
        failed: (error) => assert.fail(String(error)),
      })
    const first = await open()
    assert.equal(first.session.id, 'gw-1.1')
    await first.close()

    const charge = {
      session: LOST,
      seq: 1n,
      account: 'acct_1',
      ownNj: 1n,
      upstreamNj: 0n,
      money: 1n,
    }
    const record = { ...testCharge({ ...charge, at: '2026-11-21T00:00:00.000Z' }), debits: [] }
    const text = Buffer.concat([encodeHeader(LOST), encodeRecord(record)])
    const disk = createDisk(journalFolder)
    disk.create(SEGMENT, text, 4096).close()
    const before = readFileSync(join(journalFolder, SEGMENT))
    const lives: string[] = []
    for (let starts = 0; starts < 2; starts++) {
      const next = await open()
      lives.push(next.session.id)
      await next.close()
      assert.deepEqual(readFileSync(join(journalFolder, SEGMENT)), before)
      const kept = readJournals(disk).find(({ session }) => session === LOST)
      assert.deepEqual([kept?.files, kept?.records.length], [[SEGMENT], 1])
    }
    assert.deepEqual(lives, ['gw-1.3', 'gw-1.4'])
  },
)
