// Random ticks: what sessions journaled within their leases and beyond, sent once, again, or wrongly.
import fc from 'fast-check'
import { canonicalJson } from '#base/canonical-json.ts'
import { timestamp } from '#base/clock.ts'
import { createLedger } from './ledger.ts'
import { leaseWallet, tick } from './reference/tick.ts'
import { leasesOf } from './reference/books.ts'
import { testCharge } from './test-state.fixture.ts'
import {
  account,
  ACCOUNTS,
  amount,
  process,
  step,
  type Side,
  type LedgerStep,
  type World,
} from './tick-step.fixture.ts'
import type { TickDebit, TickInput, TickRecord } from './tick.ts'

const WANTS = [...ACCOUNTS.flatMap((id) => [`money:${id}`, `free:${id}`]), 'budget:b', 'money:none']

/** One record of a tick: how much of the session's lease on its payer's wallet it uses, in percent. */
type Use = {
  account: string
  paid: boolean
  percent: number
  upstream: number
  budget: boolean
  /** The resource: none, that of the budget (by an operation that the budget limits, or by another one), a bucket. */
  of: 'none' | 'limited' | 'beside' | 'bucket'
}
type TickStep = {
  process: string
  uses: readonly (Use | { reading: number })[]
  wants: readonly { wallet: string; amount: bigint }[]
  fault: 'none' | 'replay' | 'other record' | 'gap' | 'twice' | 'overtaken'
}

const use = fc.record({
  account,
  paid: fc.boolean(),
  percent: fc.integer({ min: 0, max: 110 }),
  upstream: fc.constantFrom(0, 0, 5_000_000),
  budget: fc.boolean(),
  of: fc.constantFrom('none' as const, 'limited' as const, 'beside' as const, 'bucket' as const),
})
export const ticking = fc
  .record({
    process,
    uses: fc.array(
      fc.oneof(
        { weight: 5, arbitrary: use },
        { weight: 1, arbitrary: fc.record({ reading: fc.nat(2_000_000_000) }) },
      ),
      { maxLength: 8 },
    ),
    wants: fc.uniqueArray(fc.record({ wallet: fc.constantFrom(...WANTS), amount }), {
      selector: (want) => want.wallet,
      minLength: 3,
      maxLength: 8,
    }),
    fault: fc.oneof(
      { weight: 8, arbitrary: fc.constant('none' as const) },
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          'replay' as const,
          'other record' as const,
          'gap' as const,
          'twice' as const,
          'overtaken' as const,
        ),
      },
    ),
  })
  .map(tickOf)

export function tickOf(one: TickStep): LedgerStep {
  return step('tick', one, {
    model(world) {
      const input = inputOf(world, one)
      const result = tick(world.books, input, world.nowMs)
      const side = world.sides.get(one.process)
      if (side !== undefined) {
        side.number = input.number
        for (const record of input.records) if (record.seq === side.seq) keep(side, record)
      }
      return result
    },
    real: (world, state) => createLedger(state).tick(inputOf(world, one)),
  })
}

function keep(side: Side, record: TickRecord): void {
  side.sent.push(record)
  side.seq++
}

function inputOf(world: World, one: TickStep): TickInput {
  const side = world.sides.get(one.process) ?? { session: 'none.1', seq: 1n, number: 0n, sent: [] }
  const debits: TickDebit[] = []
  const leases = new Map(leasesOf(world.books, side.session))
  const fresh = one.uses.map((each, index) => {
    const seq = side.seq + BigInt(index)
    return 'reading' in each
      ? windowRecord(side.session, seq, each.reading)
      : chargeRecord(each, { world, seq, session: side.session, leases, debits })
  })
  return {
    session: side.session,
    number: one.fault === 'overtaken' ? side.number : side.number + 1n,
    epoch: BigInt(Math.max(0, world.books.changes.length - 2)),
    meter: 'm1',
    records: spoil(one.fault, side, fresh),
    debits,
    wants: one.wants,
  }
}

function spoil(fault: TickStep['fault'], side: Side, fresh: TickRecord[]): TickRecord[] {
  if (fault === 'replay') return [...side.sent.slice(-3), ...fresh]
  if (fault === 'gap') return fresh.slice(1)
  if (fault === 'twice') return [...fresh, ...fresh.slice(-1)]
  const last = side.sent.at(-1)
  if (fault === 'other record' && last !== undefined)
    return [{ ...last, bytes: Buffer.from('{"other":"1"}') }, ...fresh]
  return fresh
}

const windowRecord = (session: string, seq: bigint, reading: number): TickRecord => ({
  seq,
  kind: 'window',
  bytes: Buffer.from(
    canonicalJson({
      v: '1',
      meter: 'm1',
      k: `${session}`.length.toString(),
      reading_nj: `${reading}`,
    }),
  ),
})

function chargeRecord(
  each: Use,
  at: {
    world: World
    seq: bigint
    session: string
    leases: Map<string, bigint>
    debits: TickDebit[]
  },
): TickRecord {
  const { world, seq, session, leases, debits } = at
  const spend = (wallet: string): bigint => {
    const lease = leases.get(wallet) ?? 0n
    // Above 100 the lease is exceeded, which must become the operator's loss.
    const value = (lease * BigInt(each.percent)) / 100n + (each.percent > 100 ? 7n : 0n)
    leases.set(wallet, value < lease ? lease - value : 0n)
    // A wallet that nobody opened has no books to lose from.
    if (!world.books.wallets.has(wallet)) return 0n
    debits.push({ seq, wallet, amount: value })
    return value
  }
  const payer = each.paid
    ? `money:${each.account}`
    : leaseWallet(`free:${each.account}`, world.nowMs)
  const spent = spend(payer)
  if (each.budget) spend(leaseWallet('budget:b', world.nowMs))
  const { account } = each
  return testCharge({
    session,
    seq,
    account,
    ownNj: each.paid ? 1_000_000n : spent,
    upstreamNj: BigInt(each.upstream),
    money: each.paid ? spent : 0n,
    at: timestamp(world.nowMs),
    operation: each.of === 'beside' ? 'database.backup' : 'chat.create',
    resource: { none: undefined, limited: 'database:b', beside: 'database:b', bucket: 's3://b' }[
      each.of
    ],
  })
}
