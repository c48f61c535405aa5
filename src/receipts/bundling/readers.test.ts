// Every reader of charges gives one answer, whether the charges are rows, bundled, or some of each.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { createReceiptList } from '#accounts/operations/receipt-list.ts'
import { createUsageLast } from '#accounts/operations/usage-last.ts'
import { createLogger } from '#base/log.ts'
import { chargeRange, readCharges } from '#ledger/account-charges.ts'
import { balanceAt } from '#ledger/account-transfers.ts'
import { createLedger } from '#ledger/ledger.ts'
import { sumResource } from '#ledger/resource-energy.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { sumUsage, type UsageSpan } from '#ledger/usage.ts'
import type { LedgerFilter, LedgerPosition, LedgerRow } from '#payments/ledger-entry.ts'
import { FIRST_POSITION, ledgerOfId, ledgerPage, newestOf } from '#payments/ledger-page.ts'
import { ledgerSums } from '#payments/ledger-sums.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { createReceipts } from '#receipts/prove.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'
import { requestHandlers } from '#status/control/requests.ts'
import { bundleOldest } from './bundle-charges.ts'
import { postOld, type OldCharge, type PostedCharge } from './bundled-ledger.fixture.ts'

const skip = whyNoState()
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

const START_MS = Date.UTC(2026, 0, 31, 22)
const SPAN_MS = 5 * 3_600_000
const RESOURCE = 'db_01m7z2dtdje60rs6t1v8g8fzdb'
const charge = fc.record<OldCharge>({
  account: fc.constantFrom(...Array.from({ length: 4 }, () => 'acct_a'), 'acct_b', 'nobody'),
  token: fc.constantFrom(undefined, 'tok_1', 'tok_2'),
  operation: fc.constantFrom(
    'chat.create',
    'embeddings.create',
    'database.session',
    'database.list',
  ),
  resource: fc.constantFrom(undefined, undefined, `database:${RESOURCE}`, 's3:photos/a b"ü.jpg'),
  model: fc.constantFrom(undefined, 'ergon/small', 'a "model"\\ ü'),
  process: fc.constantFrom('gw-1', 'gw-2'),
  // Times are not in the order of the log, and some are equal.
  toMs: fc.integer({ min: 0, max: SPAN_MS / 500 }).map((half) => START_MS + half * 500),
  energies: fc.array(fc.nat(1_000_000_000), { minLength: 1, maxLength: 2 }),
  method: fc.constantFrom('model', 'rapl', 'learned'),
  free: fc.boolean(),
})
/** A token is of one account. */
const old = charge.map((one) => ({ ...one, token: one.token && `${one.token}_${one.account}` }))
const CHARGES = 1200

const posted = async () => undefined
const ask = (answer: unknown) => answer as { body: () => string | object }
const call = (account: string, token: string, query: string) =>
  ({
    caller: { account, token },
    query: () => new URLSearchParams(query),
    signal: AbortSignal.timeout(60_000),
  }) as never

/** All answers of the readers, by their queries. */
async function answersOf(
  state: State,
  list: readonly PostedCharge[],
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const store = createSqlReceiptStore(state)
  const receipts = createReceipts({ store })
  const requests = requestHandlers({ state, cells: { list: () => [] }, log: createLogger('test') })
  const sample = list.filter((_, nth) => nth % 61 === 0).map(({ charge }) => charge)
  for (const { id, account } of sample) {
    answers[`receipt ${id}`] = await receipts.find(id, ['nobody', account])
    answers[`request ${id}`] = await requests['request.find']({ id })
    answers[`entry ${id}`] = await ledgerOfId(state, account, id)
  }
  const unknown = (sample[0]?.id ?? '').replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  answers['stranger'] = await receipts.find(unknown, ['acct_b'])
  answers['leaves'] = (await store.rows(0, 600)).leaves()
  answers['last leaves'] = (await store.rows(500, 1000)).leaves()
  answers['no leaves'] = (await store.rows(CHARGES, 1000)).leaves()
  answers['posted'] = await createLedger(state).posted(sample.map(({ id }) => id))
  for (const account of ['acct_a', 'acct_b', 'nobody'])
    Object.assign(answers, await answersOfAccount(state, account))
  for (const token of ['tok_1_acct_a', 'tok_2_acct_b'])
    answers[`used ${token}`] = (await state.query('select token_last_used($1)', [token])).rows
  answers['faults'] = (await state.query('select * from ledger_faults()')).rows
  return answers
}

async function answersOfAccount(state: State, account: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const list = createReceiptList({ state, posted })
  for (const query of ['limit=1000', 'limit=50&cursor=300', 'limit=1', 'cursor=1'])
    answers[`list ${account} ${query}`] = ask(await list(call(account, '', query))).body()
  const last = createUsageLast({ state, posted })
  if (account === 'acct_a')
    answers['last'] = ask(await last(call(account, 'tok_1_acct_a', ''))).body()
  const times = [0, 1800.1, 13_345.678].map((s) => new Date(START_MS + s * 1000))
  for (const from of times)
    for (const to of times.filter((each) => each >= from)) {
      const span = { account, from, to }
      const at = `${account} ${from.toISOString()} ${to.toISOString()}`
      for (const group of ['model', "token || to_char(at, 'DD')"])
        answers[`usage ${at} ${group}`] = await sumUsage(state, span, `${group}`, {
          offset: 0,
          limit: 100,
          bands: true,
        })
      const resource = { ...span, resource: RESOURCE, operations: ['database.session'] as const }
      for (const step of ['minute', 'hour', 'day'] as const)
        answers[`resource ${at} ${step}`] = await sumResource(state, resource, step)
      answers[`range ${at}`] = await chargesOfSpan(state, span)
      const filter = { account, from, to, operations: null, kind: null }
      answers[`ledger ${at}`] = await walk(state, filter, 90)
    }
  const all: LedgerFilter = { account, from: null, to: null, operations: null, kind: null }
  answers[`ledger ${account}`] = await walk(state, all, 70)
  answers[`rare ${account}`] = await walk(state, { ...all, operations: ['database.list'] }, 30)
  const middle = new Date(START_MS + 9_000_000)
  answers[`balance ${account}`] = await balanceAt(state, account, middle)
  answers[`resource ${account}`] = (
    await state.query('select * from charged_of_resource($1, $2)', [account, RESOURCE])
  ).rows
  answers[`sums ${account}`] = await ledgerSums(state, all)
  return answers
}

/** The charges of an evidence pack. */
async function chargesOfSpan(state: State, span: UsageSpan): Promise<unknown> {
  const range = await chargeRange(state, span)
  if (range === undefined) return null
  const page = async (from: bigint) =>
    (await readCharges(state, span.account, { ...range, first: from }, 150)).map(
      ({ accountSeq, leafIndex, bytes }) => `${accountSeq} ${leafIndex} ${String(bytes)}`,
    )
  return [range, await page(range.first), await page(range.first + 150n)]
}

/** All pages of a walk. */
async function walk(state: State, filter: LedgerFilter, limit: number): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = []
  let after: LedgerPosition = { ...FIRST_POSITION, ...(await newestOf(state, filter.account)) }
  for (;;) {
    const page = await ledgerPage(state, filter, { after, limit })
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return rows
    after = { ...after, at: last.at_us, rank: last.rank, number: last.number }
  }
}

const same = (found: Record<string, unknown>, wanted: Record<string, unknown>) => {
  for (const [question, answer] of Object.entries(wanted))
    assert.deepEqual(found[question], answer, question)
}

test('every reader answers the same of rows, of bundles and of both', { skip }, async () => {
  await using state = await openLedgerState(server.of, 2)
  // Within two minutes in the order of their times, so that some bundles are in one hour, some in two, and some are cut.
  const list = fc
    .sample(old, CHARGES)
    .map((one, nth) => ({ one, place: one.toMs + ((nth * 7919) % 120_000) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ one }) => one)
  const charges = await postOld(state, list)
  await state.query("select grant_funds('acct_a', 1000000, 'test', 50, 'test_funds')")
  const rows = await answersOf(state, charges)
  assert.deepEqual(rows['faults'], [])

  // A part of one account first, then all that can be bundled.
  const all = { before: new Date(), until: null }
  for (const until of [128, 256])
    assert.equal(await bundleOldest(state, 'acct_a', { ...all, until: String(until) }), 128)
  same(await answersOf(state, charges), rows)
  for (let until = 384; until <= 600; until += 128)
    assert.equal(await bundleOldest(state, 'acct_a', { ...all, until: String(until) }), 128)
  for (const account of ['acct_a', 'acct_b', 'nobody'])
    assert.ok((await bundleOldest(state, account, all)) > 0)
  same(await answersOf(state, charges), rows)
  const left = await state.query('select from charges')
  assert.equal(left.rowCount, 0)

  // Bundles of before have no sums.
  await state.query('alter table charge_bundles disable trigger user')
  await state.query('update charge_bundles set sums = null where first_seq > 1')
  same(await answersOf(state, charges), rows)
})

test(
  'readers miss nothing and have nothing twice while charges are bundled',
  { skip },
  async () => {
    await using state = await openLedgerState(server.of, 4)
    const list = fc
      .sample(old, CHARGES)
      .map((one) => ({ ...one, account: 'acct_a', token: 'tok_1_acct_a' }))
    await postOld(state, list)
    const all: LedgerFilter = {
      account: 'acct_a',
      from: null,
      to: null,
      operations: null,
      kind: null,
    }
    const span = {
      account: 'acct_a',
      from: new Date(START_MS + 900_000),
      to: new Date(START_MS + 9_000_000),
    }
    const receiptList = createReceiptList({ state, posted })
    const plain = async () => ({
      walk: await walk(state, all, 170),
      list: ask(await receiptList(call('acct_a', '', 'limit=1000'))).body(),
      usage: await inSnapshot(state, (snapshot) =>
        sumUsage(snapshot, span, 'operation', { offset: 0, limit: 10 }),
      ),
    })
    const wanted = await plain()
    let isBundling = true
    const bundleAll = async () => {
      for (let until = 130; until <= CHARGES; until += 130)
        await bundleOldest(state, 'acct_a', { before: new Date(), until: String(until) })
    }
    const bundling = bundleAll().finally(() => (isBundling = false))
    while (isBundling) assert.deepEqual(await plain(), wanted)
    await bundling
    assert.deepEqual(await plain(), wanted)
  },
)
