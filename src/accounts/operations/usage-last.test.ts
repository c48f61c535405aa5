import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargeBytes } from '#contract/ledger/charge.ts'
import { usageLast } from '#contract/service-replies.ts'
import type { OperationCall } from '#http/reply.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { createUsageLast } from './usage-last.ts'

const TOKEN = 'tok_1'

type One = {
  session: string
  to: string
  token?: string
  operation?: string
  model?: string
}

test(
  "GET /v1/usage/last is the token's last request",
  { skip: whyNoState(), timeout: 60_000 },
  async (t) => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    await addTestAccount(state, { id: 'acct_1', env: 'live', lowWater: 0n })
    let leaves = 0
    /** Posts these in their order; resolves with the request of the nth. */
    const posted = async (nth: number, charges: readonly One[]): Promise<string> => {
      const first = leaves
      for (const one of charges) {
        const { session, to, token = TOKEN, operation = 'chat.create' } = one
        const leaf = leaves++
        const charge = { ...chargeOf(leaf), ...one, token, operation, from: to }
        await state.query(
          `insert into charges (session, seq, id, account, account_seq, leaf_index, token, operation, status,
            energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
           values ($1, $2::bigint, $3, 'acct_1', $2 + 1, $2, $4, $5, 200, 1, 1, 1, false, $6, '', $7)`,
          [session, leaf, charge.id, token, operation, to, chargeBytes(charge)],
        )
      }
      return chargeOf(first + nth).request
    }
    const get = createUsageLast({ state, posted: async () => undefined })
    const record = async () => {
      const asked = { caller: { token: TOKEN }, signal: new AbortController().signal }
      const reply = (await get(asked as unknown as OperationCall)) as unknown as {
        body: () => string
      }
      return usageLast.parse(JSON.parse(reply.body()))
    }
    const last = async () => (await record()).request_id
    const at = (time: string) => `2026-11-21T${time}Z`

    await t.test('and not one that only reads usage, nor of another token', async () => {
      await assert.rejects(last(), { code: 'not_found' })
      const mine = await posted(0, [
        { session: 'gw-1.1', to: at('10:00:00.000'), model: 'small' },
        { session: 'gw-1.1', to: at('10:00:01.000'), operation: 'usage.last' },
        { session: 'gw-1.1', to: at('10:00:02.000'), token: 'tok_2' },
        // Requests that `ergon login` and the model lists of programs send by themselves.
        { session: 'gw-1.1', to: at('10:00:03.000'), operation: 'model.list' },
        { session: 'gw-1.1', to: at('10:00:04.000'), operation: 'model.get' },
      ])
      assert.equal(await last(), mine)
    })

    await t.test('and says which operation it was, and null where no model served', async () => {
      const { operation, model } = await record()
      assert.deepEqual([operation, model], ['chat.create', 'small'])
      const to = at('10:00:05.000')
      await posted(0, [{ session: 'gw-1.1', to, operation: 'storage.put-object' }])
      const put = await record()
      assert.deepEqual([put.operation, put.model], ['storage.put-object', null])
    })

    await t.test(
      'the last request is the later one of two gateways, also when that is posted first',
      async () => {
        const later = await posted(0, [
          { session: 'gw-2.1', to: at('11:00:00.050') },
          { session: 'gw-1.1', to: at('11:00:00.000') },
        ])
        assert.equal(await last(), later)
      },
    )

    await t.test('after the clock was set back, by an hour or by a second', async () => {
      const hour = await posted(2, [
        { session: 'gw-2.1', to: at('12:00:00.000') },
        { session: 'gw-1.1', to: at('12:00:00.000') },
        { session: 'gw-1.1', to: at('11:00:00.000') },
      ])
      assert.equal(await last(), hour)
      const second = await posted(0, [{ session: 'gw-1.2', to: at('10:59:59.000') }])
      assert.equal(await last(), second)
    })
  },
)
