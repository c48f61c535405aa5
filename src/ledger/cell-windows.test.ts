import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from '#base/canonical-json.ts'
import { nj } from '#base/units.ts'
import { parseWindow, windowBytes } from '#metering/window-record.ts'
import { splitReading, type CellUse } from '#metering/window.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { readCellWindows } from './cell-windows.ts'
import { createLedger } from './ledger.ts'
import { addTestAccount, openLedgerState } from './test-state.fixture.ts'
import type { TickRecord } from './tick.ts'

const skip = whyNoState()
const K = 1_700_000_000

/** The bytes of a window in which one cell worked. */
function windowOf(k: number, payer: CellUse['payer']): Buffer {
  const readingNj = nj(1_000_000_000n)
  const cells = [{ name: 'db-1', payer, cpuNs: 1_000_000n }]
  const options = { readingNj, idleDrawNj: nj(0n), busyNs: 0n, cells }
  const { dynamicNj: _, ...split } = splitReading(options)
  return windowBytes({
    ...split,
    meter: 'm1',
    k,
    elapsedNs: 1_000_000_000n,
    readingNj,
    method: 'model',
    bandPct: 40,
    pueMilli: 1000n,
    chargedNs: 0n,
    accruedNj: nj(0n),
    tariffNjPerCpuS: 1n,
  })
}

const chargeOf = (id: string, operation: string, toMs: number, cell?: string): Buffer =>
  Buffer.from(
    canonicalJson({
      v: '1',
      id,
      account: 'acct_1',
      operation,
      resource: 'database:db_1',
      ...(cell !== undefined && { cell }),
      status: 200,
      parts: [{ meter: 'm1', method: 'model', band_pct: '40', energy_nj: '1' }],
      energy_nj: '1',
      carbon_pg: '0',
      charge_pusd: '0',
      free: true,
      to: new Date(toMs).toISOString(),
    }),
  )

test(
  'a new life finds the windows of cells of accounts, and how far each is charged',
  { skip },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    await addTestAccount(state, { id: 'acct_1', env: 'test', lowWater: 0n })
    const ledger = createLedger(state)
    const { session } = await ledger.openSession('agent')
    const bytes: readonly (readonly [TickRecord['kind'], Buffer])[] = [
      ['window', windowOf(K, { kind: 'account', account: 'acct_1' })],
      ['window', windowOf(K + 1000, { kind: 'account', account: 'acct_1' })],
      ['window', windowOf(K + 1001, { kind: 'operator' })],
      ['window', windowOf(K + 1002, { kind: 'account', account: 'acct_1' })],
      ['charge', chargeOf('rcpt_1', 'cell.standing', (K + 1000) * 1000)],
      ['charge', chargeOf('rcpt_5', 'cell.standing', (K + 1002) * 1000, 'db-1')],
      ['charge', chargeOf('rcpt_6', 'cell.standing', (K + 1003) * 1000, 'db-1-2')],
      ['charge', chargeOf('rcpt_2', 'cell.standing', (K + 1) * 1000)],
      ['charge', chargeOf('rcpt_4', 'function.standing', (K + 1001) * 1000)],
      ['charge', chargeOf('rcpt_3', 'storage.standing', (K + 1002) * 1000)],
    ]
    const records = bytes.map(([kind, each], place) => ({
      seq: BigInt(place + 1),
      kind,
      bytes: each,
    }))
    const none = { epoch: 0n, meter: 'm1', debits: [], wants: [] }
    await ledger.tick({ ...none, session, number: 1n, records })

    const left = await readCellWindows(state, { meter: 'm1', process: 'agent' })
    assert.deepEqual(
      left.windows.map((each) => parseWindow(each).k),
      [K + 1000, K + 1002],
    )
    assert.deepEqual([...left.chargedToMs].toSorted(), [
      ['database:db_1', (K + 1001) * 1000],
      ['db-1', (K + 1002) * 1000],
      ['db-1-2', (K + 1003) * 1000],
    ])
    const others = await readCellWindows(state, { meter: 'm1', process: 'gw-1' })
    assert.equal(others.chargedToMs.size, 0)
  },
)
