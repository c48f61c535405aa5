// Random histories of the ledger: what they begin with, and the steps that they are made of.
import fc from 'fast-check'
import { timestamp } from '#base/clock.ts'
import { createLedger } from './ledger.ts'
import {
  changeCredentials,
  closeSession,
  loseRecords,
  openSession,
  writeOffSession,
} from './reference/tick.ts'
import { addAccount, newBooks } from './reference/books.ts'
import { setBudget } from './reference/budgets.ts'
import {
  expireLots,
  grantFunds,
  pendingCredit,
  postPending,
  voidPending,
} from './reference/funds.ts'
import { nj } from '#base/units.ts'
import { fitReferenceReserves } from './reference/reserves.ts'
import { fitReserves } from './reserves.ts'
import type { ReserveKind } from './tick.ts'
import { addTestAccount } from './test-state.fixture.ts'
import {
  account,
  ACCOUNTS,
  amount,
  call,
  process,
  setNow,
  step,
  type Real,
  type LedgerStep,
  type World,
} from './tick-step.fixture.ts'
import { ticking, tickOf } from './tick-ticks.fixture.ts'

const START_MS = Date.UTC(2026, 10, 21, 22, 0, 0)
const PRICE = { id: 'price_1', pusdPerJ: 69_444n, freeTierNj: 500_000_000n }
const LOW_WATER = 40_000_000n
const LIMITED = ['chat.create']

/** A model and a state with the same accounts. */
export async function newWorld(real: Real): Promise<{ model: World; real: Real }> {
  const books = newBooks(PRICE)
  for (const id of ACCOUNTS) {
    const env = id === 'acct_live' ? 'live' : 'test'
    // A wallet without a mark: the session still hears that it is used up.
    const lowWater = id === 'acct_test' ? 0n : LOW_WATER
    addAccount(books, id, env, lowWater)
    await addTestAccount(real.state, { id, env, lowWater })
  }
  const model: World = { books, nowMs: START_MS, sides: new Map(), pendings: 0 }
  await setNow(model, real)
  // The beginning of every history, so that short histories reach the wallets.
  for (const name of ['gw-1', 'gw-2']) await open(name).run(model, real)
  for (const [index, id] of ['acct_live', 'acct_test', 'acct_live', 'acct_test'].entries()) {
    const lot = { account: id, amount: 30_000_000n, kind: 'funds', priority: 20 - index }
    await fund({ ...lot, livesMs: index < 2 ? 3000 : null }).run(model, real)
  }
  // An account that is used up and funded again: left to chance, one of three runs of twelve histories
  // never came to it, and stayed green without the event of it.
  const wants = [{ wallet: 'money:acct_test', amount: 100_000_000n }]
  const all = {
    account: 'acct_test',
    paid: true,
    percent: 100,
    upstream: 0,
    budget: false,
    of: 'none',
  } as const
  for (const uses of [[], [all]])
    await tickOf({ process: 'gw-1', uses, wants, fault: 'none' }).run(model, real)
  const again = { account: 'acct_test', amount: 30_000_000n, kind: 'funds', priority: 20 }
  await fund({ ...again, livesMs: null }).run(model, real)
  // A budget that is used up to four fifths, and lowered below what is leased.
  await budget(1_000_000n).run(model, real)
  const limit = [{ wallet: 'budget:b', amount: 900_000n }]
  const most = {
    account: 'acct_live',
    paid: true,
    percent: 95,
    upstream: 0,
    budget: true,
    of: 'limited',
  } as const
  for (const uses of [[], [most]])
    await tickOf({ process: 'gw-1', uses, wants: limit, fault: 'none' }).run(model, real)
  // Charged without it, and beside it.
  for (const kind of ['limited', 'beside'] as const)
    await tickOf({
      process: 'gw-1',
      uses: [{ ...most, percent: 1, budget: false, of: kind }],
      wants: limit,
      fault: 'none',
    }).run(model, real)
  await budget(5000n).run(model, real)
  for (const rest of [limit, [{ wallet: 'budget:b', amount: 0n }], []])
    await tickOf({ process: 'gw-1', uses: [], wants: rest, fault: 'none' }).run(model, real)
  // A lease that is given back: one of two histories had none, and was green where it was kept.
  for (const amount of [20_000_000n, 5_000_000n]) {
    const less = [{ wallet: 'money:acct_live', amount }]
    await tickOf({ process: 'gw-1', uses: [], wants: less, fault: 'none' }).run(model, real)
  }
  // A reserve that takes all that is left, is drawn on, filled again, and given back by a credit.
  const all_ = [['acct_live', 900_000_000_000n]] satisfies [string, bigint][]
  await reserve({ kind: 'retention', source: 'bucket', energies: all_ }).run(model, real)
  for (const want of [2_000_000n, 500_000n]) {
    const drawn = [{ wallet: 'money:acct_live', amount: want }]
    await tickOf({ process: 'gw-2', uses: [], wants: drawn, fault: 'none' }).run(model, real)
  }
  return { model, real }
}

const open = (name: string) =>
  step('open', name, {
    model(world) {
      const session = openSession(world.books, name, world.nowMs, { draws: drawsOf(name) })
      world.sides.set(name, { session, seq: 1n, number: 0n, sent: [] })
      return { session, epoch: BigInt(world.books.changes.length) }
    },
    real: (_, state) => createLedger(state).openSession(name, { draws: drawsOf(name) }),
  })
/** One of the processes charges for what a reserve is for. */
const drawsOf = (name: string) => (name === 'gw-2' ? ('retention' as const) : undefined)
const sessionOf = (world: World, name: string) => world.sides.get(name)?.session ?? 'none.1'

const closing = process.map((name) =>
  step('close', name, {
    model: (world) => {
      if (world.sides.has(name)) closeSession(world.books, sessionOf(world, name))
    },
    real: (world, state) => createLedger(state).closeSession(sessionOf(world, name)),
  }),
)
// Now and then of records that were posted already.
const losing = fc
  .record({ name: process, back: fc.constantFrom(0n, 0n, 0n, 1n), count: fc.bigInt(1n, 3n) })
  .map((one) => {
    const range = (world: World) => {
      const first = (world.sides.get(one.name)?.seq ?? 1n) - one.back
      return { session: sessionOf(world, one.name), first, last: first + one.count - 1n }
    }
    return step('lose', one, {
      model(world) {
        const lost = range(world)
        loseRecords(world.books, lost)
        const side = world.sides.get(one.name)
        if (side !== undefined) side.seq = lost.last + 1n
      },
      real: async (world, state) => {
        const { session, first, last } = range(world)
        await createLedger(state).lose(session, first, last)
      },
    })
  })
const writingOff = process.map((name) =>
  step('write off', name, {
    model: (world) => writeOffSession(world.books, sessionOf(world, name), 'gone', world.nowMs),
    real: (world, state) =>
      call('write_off_session($1, $2)')(state, [sessionOf(world, name), 'gone']),
  }),
)
const passing = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 3000 }) },
    { weight: 1, arbitrary: fc.constantFrom(3_600_000, 86_400_000) },
  )
  .map((ms) =>
    step('pass', ms, {
      model: (world) => {
        world.nowMs += ms
      },
      real: async () => undefined,
    }),
  )
const revoking = account.map((id) =>
  step('revoke', id, {
    model: (world) => changeCredentials(world.books, 'tok_1', id).toString(),
    real: (_, state) => call('change_credentials($1, $2)')(state, ['tok_1', id]),
  }),
)

type Fund = {
  account: string
  amount: bigint
  kind: string
  priority: number
  livesMs: number | null
}
const fund = (lot: Fund) =>
  step('fund', lot, {
    model: (world) => {
      const lives = lot.livesMs === null ? {} : { expiresMs: world.nowMs + lot.livesMs }
      grantFunds(world.books, { ...lot, transferKind: 'top_up', ...lives }, world.nowMs)
    },
    real: (world, state) =>
      call("grant_funds($1, $2, $3, $4, 'top_up', $5)")(state, [
        lot.account,
        lot.amount.toString(),
        lot.kind,
        lot.priority,
        lot.livesMs === null ? null : timestamp(world.nowMs + lot.livesMs),
      ]),
  })
const funding = fc
  .record({
    account,
    amount,
    kind: fc.constantFrom('funds', 'points', 'promotion'),
    priority: fc.constantFrom(10, 20, 50),
    livesMs: fc.option(fc.integer({ min: 1, max: 5000 })),
  })
  .map(fund)
const budget = (njPerDay: bigint) =>
  step('budget', njPerDay, {
    model: ({ books, nowMs }) =>
      setBudget(books, { id: 'b', account: 'acct_live', njPerDay, operations: LIMITED }, nowMs),
    real: (_, state) =>
      call("set_budget('b', 'acct_live', nullif($1::numeric, 0), $2)")(state, [
        njPerDay.toString(),
        LIMITED,
      ]),
  })
// Nothing per day removes it.
const budgeting = fc.oneof({ weight: 5, arbitrary: amount }, fc.constant(0n)).map(budget)
const promising = fc.record({ account, amount, livesMs: fc.constantFrom(100, 5000) }).map((one) =>
  step('pending', one, {
    model: (world) => {
      const { livesMs, ...credit } = one
      const id = `pend_${++world.pendings}`
      pendingCredit(world.books, { ...credit, id, expiresMs: world.nowMs + livesMs }, world.nowMs)
    },
    real: (world, state) =>
      call('pending_credit($1, $2, $3, $4)')(state, [
        `pend_${world.pendings + 1}`,
        one.account,
        one.amount.toString(),
        timestamp(world.nowMs + one.livesMs),
      ]),
  }),
)
const settling = fc.record({ which: fc.nat(5), post: fc.boolean() }).map((one) => {
  const id = (world: World) => `pend_${(one.which % world.pendings) + 1}`
  return step('settle pending', one, {
    model: ({ books, nowMs, ...world }) => {
      if (world.pendings === 0) return null
      const name = id({ books, nowMs, ...world })
      return (one.post ? postPending(books, name) : voidPending(books, name, nowMs)) || null
    },
    real: async (world, state) =>
      world.pendings === 0
        ? null
        : call(one.post ? 'post_pending($1)' : 'void_pending($1)')(state, [id(world)]),
  })
})
const expiring = fc.constant(0).map(() =>
  step('expire', 0, {
    model: (world) => expireLots(world.books, world.nowMs),
    real: async (_, state) => {
      await state.query('select expire_lots()')
    },
  }),
)
const reconciling = fc.constant(0).map(() =>
  step('reconcile', 0, {
    model: () => [],
    real: (_, state) => call('reconcile()')(state, []),
  }),
)

type Reserving = {
  readonly kind: ReserveKind
  readonly source: string
  readonly energies: [string, bigint][]
}
const reserve = (one: Reserving) =>
  step('reserve', one, {
    model: ({ books }) =>
      fitReferenceReserves(books, {
        ...one,
        energies: new Map(one.energies.map(([id, energy]) => [id, nj(energy)])),
      }),
    real: async (_, state) => {
      await fitReserves(state, { ...one, energies: new Map(one.energies) })
    },
  })
const reserving = fc
  .record({
    kind: fc.constantFrom('grace', 'retention'),
    source: fc.constantFrom('bucket', 'database'),
    energies: fc.uniqueArray(fc.tuple(account, fc.bigInt(0n, 600_000_000_000n)), {
      selector: ([id]) => id,
    }),
  })
  .map(reserve)

/** Steps in the proportions of which most lead somewhere. */
export const commands = (): fc.Arbitrary<LedgerStep>[] => [
  process.map(open),
  funding,
  budgeting,
  reserving,
  reserving,
  ticking,
  ticking,
  ticking,
  ticking,
  ticking,
  ticking,
  passing,
  passing,
  promising,
  settling,
  expiring,
  closing,
  losing,
  writingOff,
  revoking,
  reconciling,
]
