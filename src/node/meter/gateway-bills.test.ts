import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { createBills } from './gateway-bills.ts'

const bill = (session: string, chargedNs: bigint, accrued: bigint) => ({
  session,
  chargedNs,
  accruedNj: nj(accrued),
  gpu: new Map([['model-a', { chargedNs: 2n * chargedNs, accruedNj: nj(3n * accrued) }]]),
  activity: {
    operations: new Map([
      ['chat.create', { requests: Number(chargedNs), ownNs: 2 * Number(chargedNs) }],
    ]),
    activeSeconds: 1,
    indirectNs: chargedNs,
    aheadNs: 0n,
    rateNs: 0n,
  },
})

test('the bills of a gateway are its newest figures, those of a node the sum', () => {
  const bills = createBills()
  assert.deepEqual(bills.total(), { chargedNs: 0n, accruedNj: 0n })
  bills.take('gw-1', bill('gw-1.1', 10n, 100n))
  bills.take('gw-2', bill('gw-2.1', 1n, 5n))
  bills.take('gw-1', bill('gw-1.1', 20n, 150n))
  assert.deepEqual(bills.total(), { chargedNs: 21n, accruedNj: 155n })
  assert.deepEqual([...bills.totalGpu()], [['model-a', { chargedNs: 42n, accruedNj: 465n }]])
})

test('a gateway that is killed again and again keeps what its lives billed', () => {
  const bills = createBills()
  let before = bills.total()
  for (let life = 1n; life <= 30n; life++) {
    for (const figure of [0n, 4n, 9n]) {
      bills.take('gw-1', bill(`gw-1.${life}`, figure, figure * 10n))
      const now = bills.total()
      assert.ok(now.chargedNs >= before.chargedNs && now.accruedNj >= before.accruedNj)
      before = now
    }
  }
  assert.deepEqual(before, { chargedNs: 270n, accruedNj: 2700n })
  assert.deepEqual([...bills.totalGpu()], [['model-a', { chargedNs: 540n, accruedNj: 8100n }]])
  assert.deepEqual(bills.activity(), {
    operations: new Map([['chat.create', { requests: 270, ownNs: 540 }]]),
    activeSeconds: 30,
    indirectNs: 270n,
    aheadNs: 0n,
    rateNs: 0n,
  })
})

test('the credit is divided by the requests of the last windows', () => {
  const bills = createBills()
  const cells = ['gw-1', 'gw-2', 'gw-3']
  const settled = [0n, 0n, 0n]
  /** A window in which each has settled so many more requests: what each may bill of 100. */
  const divided = (more: readonly bigint[], present = cells) => {
    for (const [nth, cell] of cells.entries()) {
      settled[nth] = (settled[nth] ?? 0n) + (more[nth] ?? 0n)
      if (present.includes(cell)) bills.take(cell, bill(`${cell}.1`, settled[nth], 0n))
    }
    bills.divide(new Set(present))
    const allowed = bills.allowedNs(100)
    return cells.map((cell, nth) => (allowed[`${cell}.1`] ?? 0) - Number(settled[nth]))
  }
  assert.deepEqual(divided([0n, 0n, 0n]), [0, 0, 0])
  assert.deepEqual(divided([30n, 10n, 0n]), [75, 25, 0])
  assert.deepEqual(divided([0n, 0n, 0n]), [75, 25, 0], 'at rest')
  assert.deepEqual(divided([0n, 0n, 30n]), [30, 10, 60], 'what was settled before counts less')
  assert.deepEqual(divided([0n, 10n, 0n], ['gw-2', 'gw-3']), [0, 45, 54], 'one has gone')
  assert.deepEqual(divided([0n, 0n, 0n], ['gw-3']), [0, 0, 100])
})

test('every session has the whole debt, also to one that has billed nothing else', () => {
  const bills = createBills()
  bills.take('gw-1', bill('gw-1.1', 30n, 0n))
  bills.take('gw-2', bill('gw-2.1', 0n, 0n))
  bills.divide(new Set(['gw-1', 'gw-2']))
  assert.deepEqual(bills.allowedNs(-100), { 'gw-1.1': -70, 'gw-2.1': -100 })
})

test('each session is told what is known of its bills ahead of the windows', () => {
  const bills = createBills()
  const { activity, ...rest } = bill('gw-1.1', 30n, 0n)
  bills.take('gw-1', { ...rest, activity: { ...activity, aheadNs: 7n } })
  bills.take('gw-2', bill('gw-2.1', 1n, 0n))
  assert.deepEqual(bills.seenAheadNs(), { 'gw-1.1': 7, 'gw-2.1': 0 })
})
