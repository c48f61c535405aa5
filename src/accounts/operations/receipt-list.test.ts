import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargeBytes } from '#contract/ledger/charge.ts'
import { receiptList } from '#contract/service-replies.ts'
import type { OperationCall } from '#http/reply.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { createReceiptList } from './receipt-list.ts'

const ACCOUNTS = ['acct_0', 'acct_1']

test(
  'GET /v1/receipts gives every charge of the account once, the newest first, and none of others',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    for (const id of ACCOUNTS)
      await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000n })
    let isPosted = false
    // Charges of answers before the call arrive while the call waits.
    const post = async () => {
      for (let leaf = 0; leaf < 50 && !isPosted; leaf++) {
        const account = ACCOUNTS[leaf % 2] ?? ''
        await state.query(
          `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status,
            energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
           values ('gw-1.1', $1, $2, $3, $4, $1, 'chat.create', 200, 1, 1, 1, false, now(), '', $5)`,
          [
            leaf,
            `rcpt_${leaf}`,
            account,
            Math.floor(leaf / 2) + 1,
            chargeBytes({ ...chargeOf(leaf), account }),
          ],
        )
      }
      isPosted = true
    }
    const get = createReceiptList({ state, posted: post })
    const ask = async (query: Record<string, string>) => {
      const asked = {
        caller: { account: 'acct_1' },
        query: () => new URLSearchParams(query),
        signal: new AbortController().signal,
      }
      const reply = (await get(asked as unknown as OperationCall)) as unknown as {
        body: () => string
      }
      return receiptList.parse(JSON.parse(reply.body()))
    }
    const found: string[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < 9; pages++) {
      const page = await ask({ limit: '10', ...(cursor === null ? {} : { cursor }) })
      found.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor
      if (cursor === null) break
    }
    assert.deepEqual(
      found,
      Array.from({ length: 25 }, (_, nth) => chargeOf(2 * (24 - nth) + 1).id),
    )
    const all = await ask({})
    assert.deepEqual([all.data.length, all.has_more], [25, false])
    const { energy_nj, charge_pusd, request } = chargeOf(49)
    const [first] = all.data
    assert.deepEqual(
      [first?.account_seq, first?.energy_nj, first?.charge_pusd, first?.request_id],
      ['25', energy_nj, charge_pusd, request],
    )
    assert.equal((await ask({ cursor: '1' })).data.length, 0)

    const { rows } = await state.query<{ id: string }>(
      "select add_database('acct_1', 'notes', 'local', 9, 1000000) as id",
    )
    const resources = [`database:${rows[0]?.id}`, 'database:notes', 's3://photos']
    for (const [nth, resource] of resources.entries()) {
      const charge = { ...chargeOf(50 + nth), account: 'acct_1', resource }
      await state.query(
        `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status,
          energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
         values ('gw-1.1', $1, $2, 'acct_1', $3, $1, 'chat.create', 200, 1, 1, 1, false, now(), '', $4)`,
        [50 + nth, charge.id, 26 + nth, chargeBytes(charge)],
      )
    }
    const shown = (await ask({ limit: '3' })).data.toReversed()
    assert.deepEqual(
      shown.map((one) => [one.resource, one.resource_name]),
      resources.map((resource, nth) => [resource, nth === 0 ? 'notes' : undefined]),
    )

    for (const bad of [
      { limit: '0' },
      { limit: '1001' },
      { limit: 'x' },
      { cursor: '-1' },
      { cursor: 'rcpt_1' },
    ])
      await assert.rejects(ask(bad), { code: 'invalid_request' }, JSON.stringify(bad))
  },
)
