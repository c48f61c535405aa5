import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { OperationCall } from '#http/reply.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { createUsageGet } from './usage-get.ts'

const ACCOUNT = 'acct_0'
const TOKENS = 1003

type Page = {
  data: { at?: string; group: string | null; requests: number; band_pct?: number | null }[]
  has_more: boolean
  next_cursor: string
}

test(
  'GET /v1/usage waits for what was answered, and gives all groups page by page',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 1_000_000n })
    const post = async () =>
      void (await state.query(
        `insert into charges (session, seq, id, account, account_seq, leaf_index, token, operation, status,
        energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
       select 'gw-1.1', n, 'rcpt_' || n, $1, n, n - 1, 'tok_' || n, 'chat.create', 200, n, 1, 1, false,
        now() - interval '1 minute', '', convert_to(format(
         '{"parts":[{"band_pct":"%s","energy_nj":"%s","meter":"m1","method":"model"}],"price_id":"p"}',
         40 + n % 2, n), 'UTF8') from generate_series(1, $2::int) n on conflict do nothing`,
        [ACCOUNT, TOKENS],
      ))
    const get = createUsageGet({ state, posted: post, now: Date.now })
    let units = 0
    const ask = async (query: Record<string, string>): Promise<Page> => {
      units = 0
      const asked = {
        caller: { account: ACCOUNT },
        query: () => new URLSearchParams(query),
        signal: new AbortController().signal,
        spend: { countUnits: (count: number) => void (units += count) },
      }
      const reply = (await get(asked as unknown as OperationCall)) as unknown as {
        body: () => string
      }
      return JSON.parse(reply.body()) as Page
    }
    const first = await ask({ group_by: 'token', limit: '1000' })
    assert.deepEqual([first.data.length, first.has_more], [1000, true])
    const last = await ask({ cursor: first.next_cursor, limit: '1000' })
    assert.deepEqual([last.data.length, last.has_more, last.next_cursor], [3, false, null])
    assert.equal(units, TOKENS - 1, 'a page is summed from all charges')
    const groups = [...first.data, ...last.data].map(({ group }) => group)
    assert.equal(new Set(groups).size, TOKENS)
    assert.equal(groups[0], `tok_${TOKENS}`, 'the most energy first')
    assert.equal((await ask({ group_by: 'service' })).has_more, false)

    const [none] = (await ask({ group_by: 'model' })).data
    assert.equal(none?.band_pct, 41, 'a part of a percent counts as a whole')
    assert.equal(none?.group, null, 'what no model served is one group, as usage/last names it')

    // The charge of a cell has no request.
    await state.query(
      `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status,
        energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
       select 'gw-1.1', n, 'rcpt_' || n, $1, n, n - 1, 'cell.standing', 200, 7, 1, 1, false,
        now() - interval '1 minute', '', '{"parts":[]}' from (values ($2::int)) c (n)`,
      [ACCOUNT, TOKENS + 1],
    )
    const { data } = await ask({ group_by: 'token', service: 'databases' })
    assert.deepEqual(
      data.map(({ group, requests }) => [group, requests]),
      [[null, 1]],
      'what no token asked for is one group',
    )

    const perMinute = await ask({ group_by: 'operation', step: 'minute', service: 'inference' })
    assert.deepEqual(
      perMinute.data.map(({ group, requests, band_pct: band }) => [group, requests, band]),
      [['chat.create', TOKENS, undefined]],
    )
    assert.match(perMinute.data[0]?.at ?? '', /:00\.000Z$/)
    assert.equal(units, TOKENS, 'each charge that was read is a unit, that of the cell too')
    assert.deepEqual((await ask({ service: 'storage' })).data, [])
    assert.equal(units, TOKENS, 'charges that the filter leaves out are read')
    const text = Buffer.from(first.next_cursor, 'base64url').toString()
    const past = Buffer.from(text.replace('offset=1000', 'offset=5000')).toString('base64url')
    assert.deepEqual((await ask({ cursor: past })).data, [])
    assert.equal(units, TOKENS, 'charges are read for a page past the end')
    const filtered = await ask({ group_by: 'token', operation: 'chat.create', limit: '1000' })
    assert.equal((await ask({ cursor: filtered.next_cursor })).data.length, 3)
    const days = (from: string, step: string) => ask({ from, to: '2026-03-01', step })
    for (const [query, param] of [
      [ask({ step: 'week' }), 'step'],
      [ask({ service: 'colour' }), 'service'],
      [ask({ operation: 'colour' }), 'operation'],
      [days('2026-02-26', 'minute'), 'from'],
      [days('2026-01-01', 'hour'), 'from'],
    ] as const)
      await assert.rejects(query, { code: 'invalid_request', param })

    for (const cursor of ['', 'x', '1.2.colour.3', '1.2.token.-3', `${first.next_cursor}0000000`])
      await assert.rejects(ask({ cursor }), { code: 'invalid_request' }, cursor)
  },
)

const NO_DATES = [
  '2026-02-30',
  '2026-13-01',
  'May 3 2026',
  '1700000000',
  '2026-11-23T24:00:00Z',
  '',
]
const RANGE = { from: '2026-11-23T01:50:00', to: '2026-11-23T03:50:00+01:00' }

test('GET /v1/usage reads times without a zone as UTC, wherever it runs, and no date that is none', () => {
  // A process of its own: the zone is that of a process.
  const program = `
    import { createUsageGet } from '#accounts/operations/usage-get.ts'
    const query = async () => ({ rows: [] })
      const state = { transaction: (work) => work({ query }) }
    const get = createUsageGet({ state, posted: async () => undefined, now: Date.now })
    const ask = (query) => get({ caller: { account: 'acct_1' }, query: () => new URLSearchParams(query) })
    const reply = await ask(${JSON.stringify(RANGE)})
    const refused = []
    for (const from of ${JSON.stringify(NO_DATES)})
      await ask({ from, to: '2026-12-24' }).catch(({ code, param }) => refused.push([from, code, param]))
    console.log(JSON.stringify({ ...JSON.parse(reply.body()), refused }))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: { TZ: 'Asia/Kolkata' },
  })
  const { from, to, refused } = JSON.parse(printed) as Record<string, unknown>
  assert.deepEqual([from, to], ['2026-11-23T01:50:00.000Z', '2026-11-23T02:50:00.000Z'])
  assert.deepEqual(
    refused,
    NO_DATES.map((text) => [text, 'invalid_request', 'from']),
  )
})
