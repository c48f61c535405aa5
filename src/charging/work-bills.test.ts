// The CPU of background work is on the bill of its account, within its means, and nowhere else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import type { Payer } from './spend.ts'
import { chargeEnergy, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import { createWorkBills } from './work-bills.ts'

const CPU_S = 1e9

/** Bills over the real charging; `own` counts marks of the operator. */
function billsOf(bench: TestCharging, payers: readonly Payer[]) {
  const own = { marks: 0 }
  const bills = createWorkBills({
    operation: 'webhook.delivery',
    charging: bench.charging,
    clock: systemClock,
    payerOf(account) {
      const payer = payers.find((one) => one.account === account)
      if (payer === undefined) throw new TypeError(`no payer ${account}`)
      return payer
    },
    markOwn: () => void own.marks++,
  })
  return { bills, own }
}

const ownerOf = (account: string) => ({ account, resource: `webhooks:${account}` })

async function chargesOf(bench: TestCharging, account: string): Promise<Charge[]> {
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.deepEqual(brokenInvariants(bench.books), [])
  return [...bench.books.records.values()]
    .flat()
    .map((text) => parseCharge(Buffer.from(text)))
    .filter((charge) => charge.account === account)
}

const energyOf = (charges: readonly Charge[]): bigint =>
  charges.reduce((sum, charge) => sum + chargeEnergy(charge), 0n)

test('each account pays the CPU between its marks, in one charge', async () => {
  await using bench = await openTestCharging()
  const payers = ['acct_1', 'acct_2'].map((id) => bench.payer(id, 1000n * PUSD_PER_J))
  const { bills, own } = billsOf(bench, payers)
  const [first, second] = await Promise.all(
    payers.map(async ({ account }) => bills.take(ownerOf(account))),
  )
  assert.ok(first !== undefined && second !== undefined && first.isPaid && second.isPaid)
  for (let delivery = 0; delivery < 10; delivery++) {
    bench.spendCpu(0.01 * CPU_S)
    first.mark()
    bench.spendCpu(0.03 * CPU_S)
    second.mark()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await bills.close()
  const [one, two] = [await chargesOf(bench, 'acct_1'), await chargesOf(bench, 'acct_2')]
  assert.deepEqual([one.length, two.length, own.marks], [1, 1, 0])
  assert.deepEqual(
    [one[0]?.operation, one[0]?.resource, energyOf(one), energyOf(two)],
    ['webhook.delivery', 'webhooks:acct_1', NJ_PER_CPU_S / 10n, (3n * NJ_PER_CPU_S) / 10n],
  )
})

test('an account that cannot pay is served at the cost of the operator', async () => {
  await using bench = await openTestCharging()
  const { bills, own } = billsOf(bench, [bench.payer('acct_1', 0n)])
  const bill = await bills.take(ownerOf('acct_1'))
  assert.equal(bill.isPaid, false)
  bench.spendCpu(CPU_S)
  bill.mark()
  bill.release()
  // Asked again at once, it is known: nothing is admitted for each delivery.
  assert.ok(!(bills.take(ownerOf('acct_1')) instanceof Promise))
  await bills.close()
  assert.deepEqual([own.marks, (await chargesOf(bench, 'acct_1')).length], [1, 0])
})

test('a fault of ours is no account that cannot pay: it is reported, and the next delivery begins anew', async () => {
  await using bench = await openTestCharging()
  const payers: Payer[] = []
  const { bills, own } = billsOf(bench, payers)
  for (const _ of [1, 2])
    await assert.rejects(async () => await bills.take(ownerOf('acct_1')), {
      message: /no payer acct_1/,
    })
  payers.push(bench.payer('acct_1', 1000n * PUSD_PER_J))
  const bill = await bills.take(ownerOf('acct_1'))
  assert.equal(bill.isPaid, true)
  bill.release()
  await bills.close()
  assert.equal(own.marks, 0)
})

test('an account is billed no more than it has, and what is beyond is the operator’s', async () => {
  await using bench = await openTestCharging()
  const { bills, own } = billsOf(bench, [bench.payer('acct_1', PUSD_PER_J)])
  const bill = await bills.take(ownerOf('acct_1'))
  for (let nth = 0; nth < 20; nth++) {
    bench.spendCpu(0.1 * CPU_S)
    bill.mark()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.equal(bill.isPaid, false)
  await bills.close()
  const charges = await chargesOf(bench, 'acct_1')
  const pusd = charges.reduce((sum, charge) => sum + BigInt(charge.charge_pusd), 0n)
  assert.ok(pusd > 0n && pusd <= PUSD_PER_J, `${pusd} pUSD`)
  assert.ok(own.marks > 0)
})
