import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LeaseGrant, Want } from '#ledger/tick.ts'
import { free, Leases, type Lease } from './leases.ts'

/** A wallet's side of the ledger: its balance, and its leases to this session and to others. */
type Wallet = { posted: bigint; lease: bigint; others: bigint }
type Tick = { wants: Want[]; posting: Map<string, bigint> }

/** A ledger of two wallets, of which one changes with the day, and a session that uses it. */
class World {
  readonly leases = new Leases(() => 100n)
  readonly wallets = new Map<string, Wallet>()
  readonly held: { lease: Lease; amount: bigint }[] = []
  /** Settled and not posted, by wallet. */
  readonly unposted = new Map<string, bigint>()
  day = 1
  tick: Tick | undefined
  answer: LeaseGrant[] | undefined

  walletOf(want: string): string {
    return want === 'free:a' ? `free:a:${this.day}` : want
  }

  hold(want: string, percent: number): void {
    const lease = this.leases.get(want)
    if (lease === undefined) return this.leases.ask(want, 50n)
    const amount = (free(lease) * BigInt(percent)) / 100n
    this.leases.hold(lease, amount)
    this.held.push({ lease, amount })
  }

  settle(which: number, percent: number): void {
    const [one] = this.held.splice(which % Math.max(1, this.held.length), 1)
    if (one === undefined) return
    const spent = (one.amount * BigInt(percent)) / 100n
    this.leases.settle(one.lease, one.amount, spent)
    const { wallet } = one.lease
    this.unposted.set(wallet, (this.unposted.get(wallet) ?? 0n) + spent)
  }

  send(): void {
    if (this.tick !== undefined) return
    const posting = new Map(this.unposted)
    this.tick = { posting, wants: this.leases.wants(posting) }
  }

  /** The ledger does the tick; what it does may never be heard. */
  serve(): void {
    if (this.tick === undefined || this.answer !== undefined) return
    for (const [id, spent] of this.tick.posting) {
      const wallet = this.#wallet(id)
      const posted = this.posted.get(id) ?? 0n
      // A repeat posts only what was not posted before.
      const fresh = spent - posted
      assert.ok(fresh <= wallet.lease, `posted ${fresh} of a lease of ${wallet.lease}`)
      wallet.lease -= fresh
      wallet.posted -= fresh
      this.posted.set(id, spent)
    }
    this.answer = this.tick.wants.map(({ wallet: want, amount }) => {
      const id = this.walletOf(want)
      const wallet = this.#wallet(id)
      const most = wallet.posted - wallet.others
      wallet.lease = amount < most ? amount : most
      return {
        want,
        wallet: id,
        amount: wallet.lease,
        dry: wallet.lease < amount,
        elsewhere: false,
      }
    })
  }
  /** Of the tick under way, what the ledger has posted already. */
  readonly posted = new Map<string, bigint>()

  hear(): void {
    if (this.tick === undefined || this.answer === undefined) return
    this.leases.granted(this.answer)
    for (const [id, spent] of this.tick.posting)
      this.unposted.set(id, (this.unposted.get(id) ?? 0n) - spent)
    this.posted.clear()
    this.tick = this.answer = undefined
  }

  lose(): void {
    if (this.tick === undefined) return
    this.leases.failed()
    this.tick = this.answer = undefined
  }

  check(): void {
    for (const want of ['money:a', 'free:a']) {
      const lease = this.leases.get(want)
      if (lease !== undefined) assert.ok(free(lease) >= 0n, 'used + held is within the amount')
    }
    for (const { lease } of this.held) assert.ok(free(lease) >= 0n, 'an older lease too')
  }

  #wallet(id: string): Wallet {
    const wallet = this.wallets.get(id) ?? { posted: 1000n, lease: 0n, others: 0n }
    this.wallets.set(id, wallet)
    return wallet
  }
}

const want = fc.constantFrom('money:a', 'free:a')
const percent = fc.integer({ min: 0, max: 100 })
const act: fc.Arbitrary<(world: World) => void> = fc.oneof(
  fc.tuple(want, percent).map(
    ([of, part]) =>
      (world: World) =>
        world.hold(of, part),
  ),
  fc.tuple(fc.nat(), percent).map(
    ([which, part]) =>
      (world: World) =>
        world.settle(which, part),
  ),
  fc.tuple(want, fc.bigInt(1n, 400n)).map(([of, amount]) => (world: World) => {
    world.leases.ask(of, amount)
  }),
  fc.constantFrom<(world: World) => void>(
    (world) => world.send(),
    (world) => world.serve(),
    (world) => world.hear(),
    (world) => world.send(),
    (world) => world.serve(),
    (world) => world.hear(),
    (world) => world.lose(),
    (world) => world.day++,
    (world) => void world.leases.recall([...world.wallets.keys()]),
    (world) => world.held.forEach(({ lease }) => world.leases.ask(lease, 10n)),
  ),
)

test('used + held stays within what the ledger reserved, whatever is lost on the way', () => {
  let granted = 0
  fc.assert(
    fc.property(fc.array(act, { minLength: 20, maxLength: 120, size: 'max' }), (acts) => {
      const world = new World()
      for (const one of acts) {
        one(world)
        world.check()
      }
      // In the end all of it can be posted.
      world.lose()
      for (let left = world.held.length; left > 0; left--) world.settle(0, 100)
      world.send()
      world.serve()
      world.hear()
      for (const spent of world.unposted.values()) assert.equal(spent, 0n)
      granted += world.wallets.size
    }),
    { numRuns: 1500 },
  )
  assert.ok(granted > 1000, 'the histories lease')
})

test('a lease is asked for again when the answer is lost', () => {
  const leases = new Leases(() => 100n)
  leases.ask('money:a', 50n)
  assert.deepEqual(leases.wants(new Map()), [{ wallet: 'money:a', amount: 150n }])
  leases.failed()
  assert.deepEqual(leases.wants(new Map()), [{ wallet: 'money:a', amount: 150n }])
})

test('a lease that is not used goes back, and is forgotten', () => {
  const leases = new Leases(() => 100n)
  leases.ask('money:a', 50n)
  leases.wants(new Map())
  leases.granted([
    { want: 'money:a', wallet: 'money:a', amount: 150n, dry: false, elsewhere: false },
  ])
  for (let ticks = 0; ticks < 60; ticks++) {
    const grants = leases.wants(new Map()).map(({ wallet, amount }) => ({
      want: wallet,
      wallet,
      amount,
      dry: false,
      elsewhere: false,
    }))
    leases.granted(grants)
  }
  assert.equal(leases.size, 0)
})

test('nothing of a wallet that others need is kept in reserve, until a while after they needed it', () => {
  const leases = new Leases(() => 100n)
  const amount = () => leases.get('money:a')?.amount
  const tick = () =>
    leases.granted(
      leases.wants(new Map()).map(({ wallet, amount: granted }) => {
        return { want: wallet, wallet, amount: granted, dry: false, elsewhere: true }
      }),
    )
  leases.ask('money:a', 50n)
  tick()
  assert.equal(leases.recall(['money:b']), false)
  assert.equal(leases.recall(['money:a']), true)
  tick()
  assert.equal(amount(), 0n)
  assert.equal(leases.recall(['money:a']), false, 'it has nothing more to give')
  leases.ask('money:a', 50n)
  tick()
  assert.equal(amount(), 50n)
  for (let ticks = 0; ticks < 60; ticks++) tick()
  leases.ask('money:a', 50n)
  tick()
  assert.equal(amount(), 150n)
})
