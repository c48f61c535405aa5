// Refused requests share charges: the stated figures of the replies add up to those of the ledger, to the last unit.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { systemClock, type TimerClock } from '#base/clock.ts'
import { parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { isPlainCharge } from '#contract/ledger/plain-charge.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { chargeText } from './charge-text.ts'
import { openTestCharging } from './charging.fixture.ts'
import { createDisk } from './disk.ts'
import { Journal, readJournals } from './journal.ts'
import { Unattributed } from './unattributed.ts'
import { readTariff } from './tariff.ts'
import type { Session } from './session.ts'

const SESSION = 'gw-1.7'
const terms = {
  tariff: readTariff({
    meter: 'm1',
    method: 'model',
    band_pct: '30',
    nj_per_cpu_s: '3456789012',
    pue_milli: '1000',
    routed_to: 'ergon/local/cpu-x64',
    factor: { zone: 'WORLD', mg_per_kwh: '473001', source: 's', year: '2025', basis: 'assumed' },
  }),
  priceId: 'price_1',
  pusdPerJ: 69_444n,
}

/** Unattributed on a journal of files, with a clock that the test sets. */
function open() {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-refusals-'))
  const now = { ms: Date.UTC(2026, 10, 23) }
  const clock: TimerClock = { ...systemClock, wallMs: () => now.ms }
  const disk = createDisk(folder)
  const failed = (error: unknown) => assert.fail(String(error))
  const journal = new Journal({ disk, session: SESSION, clock, failed, segmentBytes: 65_536 })
  const journaled: Charge[] = []
  const session = {
    id: SESSION,
    closed: false,
    provisional: journal.provisional.bind(journal),
    settled: journal.settled.bind(journal),
    get nextSeq() {
      return BigInt(journaled.length + 1)
    },
    append(_kind: string, text: string) {
      const bytes = Buffer.from(text)
      assert.ok(isPlainCharge(bytes), 'signers take it')
      journaled.push(parseCharge(bytes))
    },
  }
  let accruedNj = 0n
  const refusals = new Unattributed(
    { session: session as unknown as Session, clock, terms: () => terms },
    (billed) => (accruedNj += billed.accruedNj),
  )
  let made = 0
  const share = (status: number, cpuNs: number) => {
    const ids = { receipt: `rcpt_${++made}`, request: `req_${made}` }
    return refusals.share({ ids, status, cpuNs, fromMs: now.ms, toMs: now.ms })
  }
  return {
    refusals,
    journaled,
    share,
    now,
    disk,
    journal,
    accruedNj: () => accruedNj,
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

const sumOf = (charges: readonly Charge[], key: 'energy_nj' | 'carbon_pg') =>
  charges.reduce((sum, charge) => sum + BigInt(charge[key]), 0n)
const requestsOf = (charge: Charge) => Number(charge.requests ?? 1)

/** Compares the stated figures of the replies with the charges, by receipt. */
function assertConserved(stated: readonly Charge[], charges: readonly Charge[]): void {
  assert.deepEqual(new Set(stated.map(({ id }) => id)), new Set(charges.map(({ id }) => id)))
  for (const charge of charges) {
    const shares = stated.filter(({ id }) => id === charge.id)
    assert.equal(requestsOf(charge), shares.length)
    for (const key of ['energy_nj', 'carbon_pg'] as const)
      assert.equal(sumOf(shares, key), BigInt(charge[key]), key)
    assert.ok(shares.every(({ status }) => status === charge.status))
  }
}

const step = fc.record({
  status: fc.constantFrom(400, 401, 404),
  cpuNs: fc.integer({ min: 0, max: 900_000 }),
  passedMs: fc.constantFrom(0, 0, 0, 1, 300, 1500),
  ticks: fc.boolean(),
})

test('figures that refused requests state add up to their charges, one a second and status', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      await using bench = open()
      const seconds = new Set<string>()
      const stated = steps.map(({ status, cpuNs, passedMs, ticks }) => {
        bench.now.ms += passedMs
        if (ticks) bench.refusals.settle('over')
        seconds.add(`${Math.floor(bench.now.ms / 1000)} ${status}`)
        return bench.share(status, cpuNs)
      })
      bench.refusals.settle('all')
      assertConserved(stated, bench.journaled)
      assert.equal(bench.journaled.length, seconds.size)
      assert.equal(bench.accruedNj(), sumOf(bench.journaled, 'energy_nj'))
    }),
    { numRuns: 30 },
  )
})

test('the harness finds replies that state the whole charge', async () => {
  await using bench = open()
  for (let nth = 0; nth < 3; nth++) bench.share(401, 200_000)
  bench.refusals.settle('all')
  const whole = [1, 2, 3].flatMap(() => bench.journaled)
  assert.throws(() => assertConserved(whole, bench.journaled), /energy_nj/)
})

test('a charge is provisional until its second is over', async () => {
  await using bench = open()
  for (let seconds = 0; seconds < 3; seconds++) {
    for (const status of [401, 404]) bench.share(status, 123_457)
    assert.equal(bench.journal.unsettled, 2)
    bench.now.ms += 1000
    bench.refusals.settle('over')
    assert.equal(bench.journal.unsettled, 0)
  }
})

test('a process that is killed within the second loses nothing of what was stated', async () => {
  await using bench = open()
  const stated = [401, 404, 401, 401].map((status) => bench.share(status, 123_457))
  bench.journal.flush()
  const [life] = readJournals(bench.disk)
  assertConserved(
    stated,
    (life?.provisional ?? []).map(({ bytes }) => parseCharge(bytes)),
  )
})

test('refused requests are in the ledger with the tick after their second', async () => {
  const now = { ms: Date.now() }
  const clock = { ...systemClock, wallMs: () => now.ms }
  await using bench = await openTestCharging(undefined, clock)
  const stated = Array.from({ length: 60 }, () => {
    const work = bench.charging.open()
    bench.spendCpu(150_001)
    return work.settle(401)
  })
  assert.ok(new Set(stated.map(({ id }) => id)).size === 1)
  now.ms += 1000
  const ticked = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  for (let ticks = 0; ticks < 2; ticks++) await ticked()
  const posted = bench.books.charges.filter(({ account }) => account === 'nobody')
  assert.equal(posted.length, 1)
  assert.equal(posted[0]?.energyNj, sumOf(stated, 'energy_nj'))
})

test('a charge of several requests says how many, in canonical bytes, and one of one does not', () => {
  const charge = (requests?: string) => ({ ...chargeOf(1), ...(requests && { requests }) })
  for (const requests of ['2', '60', undefined]) {
    const bytes = Buffer.from(chargeText(charge(requests)))
    assert.equal(parseCharge(bytes).requests, requests)
    assert.ok(isPlainCharge(bytes))
  }
  for (const requests of ['0', '-1', '1.5', 'many']) {
    const bytes = Buffer.from(chargeText(charge(requests)))
    assert.throws(() => parseCharge(bytes), { code: 'charge_invalid' })
    assert.equal(isPlainCharge(bytes), false)
  }
})
