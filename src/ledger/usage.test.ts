import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '#base/canonical-json.ts'
import { ENERGY_METHODS } from '#contract/ledger/charge.ts'
import { MEASURED_METHODS } from '#contract/ledger/known.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { addTestAccount, openLedgerState } from './test-state.fixture.ts'
import { sumUsage, USAGE_STEPS } from './usage.ts'

const skip = whyNoState()
const MIGRATION = new URL('./schema/0047_usage-by-resource.sql', import.meta.url)
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

const START_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const ACCOUNTS = ['acct_0', 'acct_1'] as const
const PAGE = { offset: 0, limit: 1000 }

type Part = { method: string; energy: number; band: number }
/** `minute` counts from START_MS; charges are posted in the order of the list, whenever they were made. */
type Charge = {
  account: (typeof ACCOUNTS)[number]
  minute: number
  model: string | null
  resource: string | null
  parts: Part[]
}
type Step = Charge | 'audit'

const minute = fc.integer({ min: 0, max: 300 })
const charge = fc.record<Charge>({
  account: fc.constantFrom(...ACCOUNTS),
  minute,
  // One that says in its own words what the ledger looks for.
  model: fc.constantFrom(null, 'a', '"parts":[{"method":"plug"', '"band_pct":"9","energy_nj":"9"'),
  resource: fc.constantFrom(null, 'db_1', 'db_2'),
  parts: fc.array(
    fc.record<Part>({
      method: fc.constantFrom(...ENERGY_METHODS),
      energy: fc.nat(1_000_000_000),
      band: fc.nat(100),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})
const history = fc.array(
  fc.oneof<[fc.WeightedArbitrary<Charge>, fc.WeightedArbitrary<'audit'>]>(
    { weight: 5, arbitrary: charge },
    { weight: 1, arbitrary: fc.constant('audit') },
  ),
  { maxLength: 30 },
)

const at = (minutes: number) => new Date(START_MS + minutes * MINUTE_MS)

const sumOf = (parts: readonly Part[]) => parts.reduce((sum, { energy }) => sum + energy, 0)
const weightOf = (parts: readonly Part[]) =>
  parts.reduce((sum, { energy, band }) => sum + BigInt(energy) * BigInt(band), 0n)

/** The bytes of a charge as far as a sum reads them. */
const bytesOf = ({ model, parts }: Charge): string =>
  canonicalJson({
    ...(model === null ? {} : { model }),
    parts: parts.map(({ method, energy, band }) => ({
      band_pct: String(band),
      energy_nj: String(energy),
      // The factor of energy that was spent elsewhere.
      factor: { zone: method },
      meter: 'm1',
      method,
    })),
    price_id: 'price_1',
  })

async function post(state: State, one: Charge, leaf: number, accountSeq: number): Promise<void> {
  await state.query(
    `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, model, status,
      energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes,
      resource)
     values ('gw-1.1', $1, $2, $3, $4, $1, 'chat.create', $5, 200, $6, 7, 3, false, $7, '', $8, $9)`,
    [
      leaf,
      `rcpt_${leaf}`,
      one.account,
      accountSeq,
      one.model,
      sumOf(one.parts),
      at(one.minute),
      Buffer.from(bytesOf(one)),
      one.resource,
    ],
  )
  await state.query('update log_head set size = $1', [leaf + 1])
}

/** Plays a history on an empty ledger. */
async function play(state: State, steps: readonly Step[]): Promise<void> {
  await state.query(
    `alter table charges disable trigger user;
     delete from charges; delete from usage_hours; delete from audited_accounts; update books set audited = 0;
     update log_head set size = 0`,
  )
  const counts = new Map<string, number>()
  let leaf = 0
  for (const one of steps) {
    if (one === 'audit') {
      await state.query('select audit_charges()')
      continue
    }
    const accountSeq = (counts.get(one.account) ?? 0) + 1
    counts.set(one.account, accountSeq)
    await post(state, one, leaf++, accountSeq)
  }
}

/** Minutes of a step. */
const STEPS = { minute: 1, hour: 60, day: 1440 } as const

function expected(
  steps: readonly Step[],
  account: string,
  {
    from,
    to,
    step,
    by = 'model',
    bands = false,
  }: {
    from: number
    to: number
    step?: keyof typeof STEPS
    by?: 'model' | 'resource'
    bands?: boolean
  },
) {
  const beginOf = ({ minute: nth }: Charge) =>
    step === undefined ? '' : String(Math.floor(nth / STEPS[step]) * STEPS[step]).padStart(4, '0')
  const sums = new Map<
    string,
    { requests: number; energy: bigint; measured: bigint; weight: bigint }
  >()
  for (const one of steps)
    if (one !== 'audit' && one.account === account && one.minute >= from && one.minute < to) {
      const key = `${beginOf(one)} ${one[by] ?? ''}`
      const sum = sums.get(key) ?? { requests: 0, energy: 0n, measured: 0n, weight: 0n }
      const read = one.parts.filter(({ method }) => MEASURED_METHODS.includes(method))
      sums.set(key, {
        requests: sum.requests + 1,
        energy: sum.energy + BigInt(sumOf(one.parts)),
        measured: sum.measured + BigInt(sumOf(read)),
        weight: sum.weight + weightOf(one.parts),
      })
    }
  return [...sums]
    .map(([key, sum]) => {
      const [begin = '', group = ''] = key.split(/ (.*)/s)
      return { begin, group, sum }
    })
    .toSorted(
      (a, b) =>
        Number(a.begin) - Number(b.begin) ||
        Number(b.sum.energy - a.sum.energy) ||
        (a.group < b.group ? -1 : 1),
    )
    .map(({ begin, group, sum: { requests, energy, measured, weight } }) => ({
      at: begin === '' ? null : at(Number(begin)),
      group,
      requests: String(requests),
      energy: String(energy),
      measured: String(measured),
      weight: bands ? String(weight) : null,
      carbon: String(7 * requests),
      charge: String(3 * requests),
    }))
}

test('sumUsage() is the sum of the charges, whatever the audit has summed', { skip }, async () => {
  await using state = await openLedgerState(server.of, 2)
  for (const id of ACCOUNTS) await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000n })
  await fc.assert(
    fc.asyncProperty(history, minute, minute, async (steps, one, other) => {
      await play(state, steps)
      const [from = 0, to = 0] = [one, other].toSorted((a, b) => a - b)
      for (const account of ACCOUNTS) {
        const span = { account, from: at(from), to: at(to) }
        const found = await sumUsage(state, span, 'model', PAGE)
        assert.deepEqual(found, expected(steps, account, { from, to }))
        assert.deepEqual(
          await sumUsage(state, span, 'model', { ...PAGE, bands: true }),
          expected(steps, account, { from, to, bands: true }),
        )
        for (const step of USAGE_STEPS)
          assert.deepEqual(
            await sumUsage(state, span, 'model', { ...PAGE, step }),
            expected(steps, account, { from, to, step }),
          )
        const ofModel = { filter: { model: 'a', operations: ['chat.create'] } }
        assert.deepEqual(
          await sumUsage(state, span, 'model', { ...PAGE, ...ofModel }),
          found.filter(({ group }) => group === 'a'),
        )
        const byResource = await sumUsage(state, span, 'resource', PAGE)
        assert.deepEqual(byResource, expected(steps, account, { from, to, by: 'resource' }))
        assert.deepEqual(
          await sumUsage(state, span, 'resource', { ...PAGE, filter: { resource: 'db_1' } }),
          byResource.filter(({ group }) => group === 'db_1'),
        )
        const none = { filter: { operations: [] } }
        assert.deepEqual(await sumUsage(state, span, 'model', { ...PAGE, ...none }), [])
        const rest = await sumUsage(state, span, 'model', { offset: 1, limit: 1 })
        assert.deepEqual(rest, found.slice(1, 2))
      }
    }),
    { numRuns: 60 },
  )
})

test('sums of before their resources were kept are parted by them, once', { skip }, async () => {
  await using state = await openLedgerState(server.of, 2)
  for (const id of ACCOUNTS) await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000n })
  const one = { account: ACCOUNTS[0], minute: 5, model: null, resource: null }
  const parts = (energy: number) => [{ method: MEASURED_METHODS[0] ?? '', energy, band: 40 }]
  const steps: Step[] = [
    { ...one, parts: parts(1) },
    { ...one, resource: 'db_1', parts: parts(20) },
    { ...one, resource: 'db_2', minute: 70, parts: parts(300) },
    'audit',
    { ...one, resource: 'db_1', parts: parts(4000) },
  ]
  await play(state, steps)
  const kept = `select account, hour, operation, model, token, resource, requests, energy_nj, carbon_pg, charge_pusd, measured_nj
    from usage_hours order by hour, operation, resource`
  const { rows: before } = await state.query(kept)
  await state.query(
    `create temporary table old as select account, hour, operation, model, token, sum(requests) as requests,
       sum(energy_nj) as energy_nj, sum(measured_nj) as measured_nj, sum(carbon_pg) as carbon_pg,
       sum(charge_pusd) as charge_pusd from usage_hours group by 1, 2, 3, 4, 5;
     truncate usage_hours;
     alter table usage_hours drop constraint usage_hours_pkey;
     alter table usage_hours drop column resource;
     alter table usage_hours add primary key (account, hour, operation, model, token);
     insert into usage_hours select * from old`,
  )
  await state.query(readFileSync(MIGRATION, 'utf8'))
  assert.deepEqual((await state.query(kept)).rows, before)
  assert.equal(before.length, 3)
})

test('a sum has no band while it has charges from before bands were kept', { skip }, async () => {
  await using state = await openLedgerState(server.of, 2)
  for (const id of ACCOUNTS) await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000n })
  const one = { account: ACCOUNTS[0], minute: 5, model: null, resource: null }
  const parts = [{ method: 'model', energy: 10, band: 40 }]
  await play(state, [{ ...one, parts }, 'audit'])
  await state.query('update usage_hours set band_weight = null')
  // A later charge of that hour does not make the rest known.
  await post(state, { ...one, parts }, 1, 2)
  await post(state, { ...one, minute: 65, parts }, 2, 3)
  await state.query('select audit_charges()')
  const weightFrom = async (minutes: number) => {
    const span = { account: ACCOUNTS[0], from: at(minutes), to: at(600) }
    return (await sumUsage(state, span, 'model', { ...PAGE, bands: true }))[0]?.weight
  }
  assert.deepEqual([await weightFrom(0), await weightFrom(60)], [null, '400'])
})
