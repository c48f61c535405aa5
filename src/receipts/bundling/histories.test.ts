// Random histories of an old ledger: charges come, some are bundled, the connection is killed between two statements,
// two bundle at once, a bundle is damaged. After each step every charge is where it was posted, once and to the byte,
// and the books add up. ERGON_LONG=1 runs 10,000 histories.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readCharges } from '#ledger/account-charges.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { sumUsage } from '#ledger/usage.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { bundleOldest } from './bundle-charges.ts'
import { balance, openLog, type OldCharge, type PostedCharge } from './bundled-ledger.fixture.ts'
import { proveNext } from './prove-bundles.ts'

const skip = whyNoState()
const HISTORIES = process.env['ERGON_LONG'] === '1' ? 10_000 : 8
/** Histories that share a state, each with accounts of its own. */
const SHARED = 50
const START_MS = Date.UTC(2026, 0, 1)
const SPAN_MS = 4 * 3_600_000
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

type Step =
  | {
      readonly kind: 'charges'
      readonly account: 0 | 1
      readonly count: number
      readonly atMs: number
    }
  | { readonly kind: 'bundle' | 'twice'; readonly account: 0 | 1; readonly part: number }
  | { readonly kind: 'kill'; readonly account: 0 | 1; readonly statement: number }
  | { readonly kind: 'damage'; readonly which: number; readonly place: number }

const account = fc.constantFrom<0 | 1>(0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('charges' as const),
    account,
    count: fc.integer({ min: 1, max: 200 }),
    atMs: fc.nat(SPAN_MS),
  }),
  fc.record({
    kind: fc.constantFrom('bundle' as const, 'twice' as const),
    account,
    part: fc.double({ min: 0.3, max: 1, noNaN: true }),
  }),
  fc.record({ kind: fc.constant('kill' as const), account, statement: fc.nat(9) }),
  fc.record({
    kind: fc.constant('damage' as const),
    which: fc.nat(1000),
    place: fc.nat(100_000),
  }),
)
const history = fc.record({
  first: fc.integer({ min: 130, max: 300 }),
  steps: fc.array(step, { minLength: 3, maxLength: 8 }),
  span: fc.tuple(fc.nat(SPAN_MS), fc.nat(SPAN_MS)),
})
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

const chargesAt = (account: string, count: number, atMs: number): OldCharge[] =>
  Array.from({ length: count }, (_, nth) => ({
    account,
    token: `tok_${account}_${nth % 2}`,
    operation: nth % 7 === 0 ? 'database.list' : 'chat.create',
    model: nth % 3 === 0 ? undefined : `ergon/model-${nth % 3}`,
    process: `gw-${account}`,
    toMs: START_MS + ((atMs + nth * 31_000) % SPAN_MS),
    energies: [1_000_000 + nth * 7919],
    method: nth % 5 === 0 ? 'rapl' : 'model',
    free: nth % 11 === 0,
  }))

/** The state, whose transaction loses its connection before a statement, or before its end. */
const killedAt = (state: State, statement: number): State => ({
  ...state,
  transaction: (work) =>
    state.transaction(async (inner) => {
      let left = statement
      const kill = () => inner.query('select pg_terminate_backend(pg_backend_pid())')
      const done = await work({
        ...inner,
        query: async (text, values) => {
          if (left-- === 0) await kill()
          return await inner.query(text, values)
        },
      })
      await kill()
      return done
    }),
})

const ALL = { before: new Date(), until: null }
/** Bundles a part of an account's charges. */
const bundle = (state: State, account: string, until: number) =>
  bundleOldest(state, account, { ...ALL, until: String(until) })

type World = {
  readonly state: State
  readonly post: (list: readonly OldCharge[]) => Promise<PostedCharge[]>
  readonly accounts: readonly [string, string]
  /** All that was posted, by account, in the order of the numbers. */
  readonly posted: Map<string, PostedCharge[]>
}

async function post({ state, post, posted }: World, list: readonly OldCharge[]): Promise<void> {
  for (const one of await post(list)) posted.get(one.charge.account)?.push(one)
  await balance(state)
}

async function take(world: World, step: Step): Promise<void> {
  const { state, accounts, posted } = world
  if (step.kind === 'damage') return await damage(world, step)
  const account = accounts[step.account]
  const count = posted.get(account)?.length ?? 0
  if (step.kind === 'charges') await post(world, chargesAt(account, step.count, step.atMs))
  else if (step.kind === 'kill')
    await bundle(killedAt(state, step.statement), account, count).catch(() => undefined)
  else {
    const until = Math.ceil(count * step.part)
    const times = step.kind === 'twice' ? 2 : 1
    await Promise.all(Array.from({ length: times }, () => bundle(state, account, until)))
  }
}

/** One bit of a bundle, which its proof must find; and back. */
async function damage(
  { state, accounts }: World,
  { which, place }: Extract<Step, { kind: 'damage' }>,
): Promise<void> {
  const { rows } = await state.query<{ account: string; first_seq: string; bits: number }>(
    `select account, first_seq, 8 * length(body) as bits from charge_bundles where account = any ($1) order by 1, 2`,
    [accounts],
  )
  const chosen = rows[which % Math.max(rows.length, 1)]
  if (chosen === undefined) return
  const flip = async () => {
    await state.query('alter table charge_bundles disable trigger user')
    await state.query(
      `update charge_bundles set body = set_bit(body, $3, 1 - get_bit(body, $3))
       where account = $1 and first_seq = $2`,
      [chosen.account, chosen.first_seq, place % chosen.bits],
    )
    await state.query('alter table charge_bundles enable trigger user')
  }
  await flip()
  assert.equal(await alarmsOfRound(state), 1, 'the damage is found')
  await flip()
  await state.query('delete from alarms')
}

async function alarmsOfRound(state: State): Promise<number> {
  while (await proveNext(state)) continue
  return (await state.query('select from alarms')).rowCount
}

async function check({ state, accounts, posted }: World, [from, to]: [number, number]) {
  for (const account of accounts) {
    const wanted = posted.get(account) ?? []
    const range = { first: 1n, last: BigInt(wanted.length) + 1n }
    const found = await readCharges(state, account, range, wanted.length + 1)
    assert.deepEqual(
      found.map(({ accountSeq, bytes }) => `${accountSeq} ${String(bytes)}`),
      wanted.map(({ bytes }, nth) => `${nth + 1} ${String(bytes)}`),
    )
    const { rows } = await state.query<{ twice: string }>(
      `select count(*) as twice from charges c join charge_bundles b
         on b.account = c.account and c.account_seq between b.first_seq and b.last_seq where c.account = $1`,
      [account],
    )
    assert.equal(rows[0]?.twice, '0', 'no charge is a row and bundled')
    const span = { account, from: new Date(START_MS + from), to: new Date(START_MS + to) }
    const [sum] = await sumUsage(state, span, "''", { offset: 0, limit: 1, bands: true })
    const inSpan = wanted.filter(({ charge: { to } }) => {
      const at = new Date(to)
      return at >= span.from && at < span.to
    })
    const weight = inSpan
      .flatMap(({ charge: { parts } }) => parts)
      .reduce((total, part) => total + BigInt(part.energy_nj) * BigInt(part.band_pct), 0n)
    const sumOf = (key: 'energy_nj' | 'carbon_pg' | 'charge_pusd') =>
      String(inSpan.reduce((total, { charge }) => total + BigInt(charge[key]), 0n))
    assert.deepEqual(
      [sum?.requests ?? '0', sum?.energy ?? '0', sum?.carbon ?? '0', sum?.charge ?? '0'],
      [String(inSpan.length), sumOf('energy_nj'), sumOf('carbon_pg'), sumOf('charge_pusd')],
    )
    assert.equal(sum?.weight ?? '0', String(weight))
  }
  assert.deepEqual((await state.query('select * from ledger_faults()')).rows, [])
}

/** Runs one history after the other; `planted` puts a fault into the state that bundling works on. */
async function run(histories: readonly History[], planted = (state: State) => state) {
  for (let from = 0; from < histories.length; from += SHARED) {
    await using state = await openLedgerState(server.of, 4)
    const log = openLog(state)
    for (const [nth, one] of histories.slice(from, from + SHARED).entries()) {
      const accounts = [`acct_a${nth}`, `acct_b${nth}`] as const
      const posted = new Map<string, PostedCharge[]>(accounts.map((account) => [account, []]))
      const world = { state: planted(state), post: log.post, accounts, posted }
      const [a, b] = one.span
      for (const account of accounts) await post(world, chargesAt(account, one.first, a))
      for (const step of one.steps) {
        await take(world, step)
        await check({ ...world, state }, [Math.min(a, b), Math.max(a, b)])
      }
    }
    assert.equal(await alarmsOfRound(state), 0)
  }
}

test('histories of bundling lose nothing, have nothing twice, and add up', { skip }, async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.diagnostic(`seed ${seed}`)
  await run(fc.sample(history, { numRuns: HISTORIES, seed }))
})

const KILLS: History = {
  first: 200,
  span: [0, SPAN_MS],
  steps: Array.from({ length: 9 }, (_, statement) => ({ kind: 'kill', account: 0, statement })),
}

test('histories find statements that are no transaction', { skip }, async () => {
  const noTransaction = (state: State): State => ({ ...state, transaction: (work) => work(state) })
  await assert.rejects(run([KILLS], noTransaction), assert.AssertionError)
  await run([KILLS])
})
