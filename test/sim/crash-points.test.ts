// One scripted run, ended at its n-th write, sync or commit for every n, by kill -9 or by a power cut; after the
// restart the ledger must have every charge that clients got.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintToken } from '#identity/token-text.ts'
import { addAccount, brokenInvariants, newBooks } from '#ledger/reference/books.ts'
import { grantFunds } from '#ledger/reference/funds.ts'
import { plant as putIn, type Plant } from './faults.ts'
import { Gateway } from './gateway.ts'
import { Schedule } from './schedule.ts'
import { TARIFF } from './tariff.ts'
import { tokenTable } from './tokens.ts'

const CALLS = 14
const RUN_MS = 1500
const RESTART_MS = 15_000
const STEPS = [{ waitMs: 20, cpuNs: 300_000_000n }]
const CEILING_NJ = 3_000_000_000n

type Crash = { readonly at: number; readonly how: 'kill' | 'power'; readonly plant: Plant }
type Outcome = { readonly points: string[]; readonly faults: string[]; readonly told: number }

async function run({ at, how, plant }: Crash): Promise<Outcome> {
  using _ = putIn(plant)
  const schedule = new Schedule(at, Date.UTC(2026, 10, 21, 12))
  const books = newBooks({ id: 'price_1', pusdPerJ: 69_444n, freeTierNj: 10_000_000_000n })
  books.tariffs.set('m1', TARIFF)
  addAccount(books, 'acct_a', 'live', 0n)
  const lot = { account: 'acct_a', kind: 'funds', priority: 50, transferKind: 'top_up' }
  grantFunds(books, { ...lot, amount: 10_000_000n }, schedule.wallMs)
  const token = { text: mintToken(), id: 'tok_a', account: 'acct_a', revoked: false }
  const points: string[] = []
  const faults: string[] = []
  let endedMs = 0
  const gateway: Gateway = new Gateway({
    name: 'gw-1',
    schedule,
    books,
    lossPercent: () => 0,
    plant,
    tokens: tokenTable(books, [token]),
    broken: (error) => faults.push(`broken: ${String(error)}`),
    point(act) {
      points.push(act)
      if (points.length !== at) return
      endedMs = schedule.nowMs
      gateway.kill(how, 100)
    },
  })
  for (let index = 0; index < CALLS; index++)
    schedule.after(100 + index * 60, () => {
      const call = { token: token.text, ceiling: CEILING_NJ, steps: STEPS }
      // A stream's head does not wait for a sync, so it may lose its id in a power cut.
      const streamed = how === 'kill' && index % 3 === 0
      void gateway.serve({ ...call, streamed, durable: how === 'power' })
    })
  await schedule.run(RUN_MS)
  const done = points.length
  // Whatever was not ended is now, so that the next life replays the rest.
  gateway.kill('kill', 10)
  await schedule.run(RUN_MS + RESTART_MS)
  // A point that this run's chances put into the life after it, perhaps a moment ago.
  await schedule.run(endedMs + RESTART_MS)
  const found = new Set(books.charges.map((charge) => charge.id))
  for (const { id, atMs } of gateway.told)
    if (!found.has(id)) faults.push(`what was told at ${atMs} ms is not found`)
  if (found.size !== books.charges.length) faults.push('a charge was posted twice')
  if (gateway.life === undefined) faults.push('it does not start again')
  // A power cut may take a record that was in no answer and leave a later record.
  const alarms = books.alarms.map(({ kind }) => kind)
  const isFault = (kind: string) => how === 'kill' || kind !== 'journal_gap'
  faults.push(...brokenInvariants(books), ...alarms.filter(isFault))
  return { points: points.slice(0, done), faults, told: gateway.acknowledged.length }
}

for (const how of ['kill', 'power'] as const)
  test(`figures that were told are found when ${how === 'kill' ? 'kill -9' : 'a power cut'} comes at any point`, async (t) => {
    const whole = await run({ at: 0, how, plant: 'none' })
    assert.deepEqual(whole.faults, [])
    assert.equal(whole.told, CALLS)
    for (const act of ['write', 'sync', 'create', 'remove', 'commit'])
      assert.ok(
        whole.points.some((point) => point.endsWith(act)),
        `a run has points of ${act}`,
      )
    for (let at = 1; at <= whole.points.length; at++) {
      const { faults } = await run({ at, how, plant: 'none' })
      assert.deepEqual(faults, [], `ended at point ${at}, ${whole.points[at - 1]}`)
    }
    t.diagnostic(`${whole.points.length} points`)
  })

for (const plant of ['journal not written', 'dead session is released'] as const)
  test(`a planted fault turns some point red: ${plant}`, async () => {
    for (let at = 1; at < 60; at++)
      if ((await run({ at, how: 'kill', plant })).faults.length > 0) return
    assert.fail('every point stays green')
  })
