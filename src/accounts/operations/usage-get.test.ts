import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handled } from '#http/reply.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { createUsageGet } from './usage-get.ts'

const ACCOUNT = 'acct_0'
const TOKENS = 1003

type Page = { data: { group: string; requests: number }[]; has_more: boolean; next_cursor: string }

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
        now() - interval '1 minute', '', '' from generate_series(1, $2::int) n on conflict do nothing`,
        [ACCOUNT, TOKENS],
      ))
    const get = createUsageGet({ state, posted: post, now: Date.now })
    const ask = async (query: Record<string, string>): Promise<Page> => {
      const asked = {
        who: { account: ACCOUNT },
        query: () => new URLSearchParams(query),
        signal: new AbortController().signal,
      }
      const reply = (await get(asked as unknown as Handled)) as unknown as { body: () => string }
      return JSON.parse(reply.body()) as Page
    }
    const first = await ask({ group_by: 'token' })
    assert.deepEqual([first.data.length, first.has_more], [1000, true])
    const last = await ask({ cursor: first.next_cursor })
    assert.deepEqual([last.data.length, last.has_more, last.next_cursor], [3, false, null])
    const groups = [...first.data, ...last.data].map(({ group }) => group)
    assert.equal(new Set(groups).size, TOKENS)
    assert.equal(groups[0], `tok_${TOKENS}`, 'the most energy first')
    assert.equal((await ask({ group_by: 'service' })).has_more, false)

    const [none] = (await ask({ group_by: 'model' })).data
    assert.equal(none?.group, 'chat.create', 'what no model served is named as usage/last does')

    for (const cursor of ['', 'x', '1.2.colour.3', '1.2.token.-3', `${first.next_cursor}0000000`])
      await assert.rejects(ask({ cursor }), { code: 'invalid_request' }, cursor)
  },
)
