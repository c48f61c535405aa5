// Many requests of several processes on one small balance: it is never oversold, and a whole ceiling of it that nobody
// holds is soon found by a request that waits for one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { nj, priceCeiling } from '#base/units.ts'
import { brokenInvariants, walletOf } from '#ledger/reference/books.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import type { Payer } from './spend.ts'

const MJ = 1_000_000n
const CEILING_MJ = 200n
const CEILING = nj(CEILING_MJ * MJ)
const PARALLEL = 64
const WALLET = 'money:acct_1'
const priceOf = (mj: bigint) => priceCeiling(nj(mj * MJ), PUSD_PER_J)
/** For so long a whole ceiling may be held by nobody while requests wait for it. */
const FOUND_MS = 700
const LOOK_MS = 5
/** A session that its process could not renew for two seconds admits nothing: a client comes again, as the error advises. */
const SILENT_MAX = 5
const RETRY_MS = 200
/** With less than that nothing is admitted. */
const LEAST = priceOf(70n)

async function ask({ charging }: TestCharging, payer: Payer, usedMj: bigint): Promise<void> {
  const work = charging.open()
  try {
    await work.admit(payer, 'chat.create', CEILING)
    await work.fill()
    await pause(Number(usedMj % 5n))
    const cpuNs = (usedMj * MJ * 1_000_000_000n) / NJ_PER_CPU_S
    await work.finish({ kind: 'cpu', cell: 'model', cpuNs })
  } finally {
    work.settle(200)
  }
}

/** The part of the balance that no running request holds. */
function heldByNobody(sessions: readonly TestCharging[], books: TestCharging['books']): bigint {
  const taken = sessions
    .map(({ leases }) => leases.get(WALLET))
    .reduce((sum, lease) => sum + (lease?.used ?? 0n) + (lease?.held ?? 0n), 0n)
  return walletOf(books, WALLET).posted - taken
}

for (const balanceMj of [2000n, 20_000n])
  test(`${PARALLEL} requests at three processes spend ${balanceMj} mJ to the last ceiling`, async (t) => {
    await using one = await openTestCharging()
    const { books } = one
    await using two = await openTestCharging(undefined, systemClock, undefined, { beside: one })
    await using three = await openTestCharging(undefined, systemClock, undefined, { beside: one })
    const sessions = [one, two, three]
    const payer = one.payer('acct_1', priceOf(balanceMj))
    let [answered, seen, sinceMs, longestMs] = [0, 0, performance.now(), 0]
    const looking = setInterval(() => {
      const nowMs = performance.now()
      if (answered > seen || heldByNobody(sessions, books) < priceOf(CEILING_MJ)) sinceMs = nowMs
      seen = answered
      longestMs = Math.max(longestMs, nowMs - sinceMs)
    }, LOOK_MS)
    const client = async (nth: number) => {
      for (let [turn, silent] = [0, 0]; ; turn++)
        try {
          await ask(
            sessions[(nth + turn) % 3] ?? one,
            payer,
            5n + BigInt((nth * 7 + turn * 13) % 30),
          )
          answered++
        } catch (error) {
          const { code } = error as { code?: string }
          if (code !== 'state_unavailable' || ++silent > SILENT_MAX)
            return assert.equal(code, 'balance_depleted')
          await pause(RETRY_MS)
        }
    }
    await Promise.all(Array.from({ length: PARALLEL }, (_, nth) => client(nth)))
    clearInterval(looking)
    for (const { session } of [...sessions, ...sessions])
      await session.tickNow(AbortSignal.timeout(60_000))
    const { posted } = walletOf(books, WALLET)
    t.diagnostic(
      `${posted} pUSD left; a ceiling was held by nobody for ${Math.round(longestMs)} ms`,
    )
    assert.deepEqual([books.alarms, brokenInvariants(books)], [[], []])
    assert.ok(longestMs < FOUND_MS, `held by nobody for ${longestMs} ms`)
    assert.ok(posted >= 0n && posted < LEAST, `${posted} left`)
  })

const GATEWAY_CEILING = nj(1000n * MJ)
const ANSWER_CEILING = nj(25_000n * MJ)
const PROMPT_LEAST = nj(100n * MJ)
const cpuNsOf = (mj: bigint) => (mj * MJ * 1_000_000_000n) / NJ_PER_CPU_S

/** A request of a chat model: read, then generated in steps. */
async function chat({ charging }: TestCharging, payer: Payer, usedMj: bigint): Promise<void> {
  const work = charging.open()
  try {
    await work.admit(payer, 'chat.create', GATEWAY_CEILING)
    await work.admit(payer, 'chat.create', ANSWER_CEILING, PROMPT_LEAST)
    for (let mj = 100n; mj < usedMj; mj += 100n) {
      await pause(1)
      work.claim({ kind: 'cpu', cell: 'model', cpuNs: cpuNsOf(mj) })
      if (work.cutReason !== undefined) throw work.cutReason
    }
    await work.finish({ kind: 'cpu', cell: 'model', cpuNs: cpuNsOf(usedMj) })
  } finally {
    work.settle(200)
  }
}

test('six clients at once of a balance that pays for all of them are all answered', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOf(4000n))
  const asked = Array.from({ length: 6 }, () => chat(bench, payer, 500n))
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')
  assert.deepEqual(refused, [])
  for (const _ of [1, 2]) await bench.session.tickNow(AbortSignal.timeout(60_000))
  // The last use of a client may be held by another client, and is the operator’s then.
  const spent = priceOf(4000n) - walletOf(bench.books, WALLET).posted
  assert.ok(spent <= 6n * priceOf(500n) && spent >= 5n * priceOf(500n), `${spent} pUSD`)
})
