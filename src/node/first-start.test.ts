import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config } from '#config/config.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { setPrice } from './first-start.ts'

const at = (pricePusdPerJ: bigint) => ({ pricePusdPerJ, freeTierJ: 50_000n }) as Config

test(
  'setPrice(): the price set last is in force, also after a clock that was ahead',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    const inForce = async () =>
      (await state.query<{ price: string }>('select pusd_per_j as price from current_price()')).rows
    assert.equal(await setPrice(state, at(1000n)), true)
    await state.query(
      "update prices set since = now() + interval '3 years' where pusd_per_j = 1000",
    )
    assert.equal(await setPrice(state, at(2000n)), true)
    assert.deepEqual(await inForce(), [{ price: '2000' }])
    assert.equal(await setPrice(state, at(2000n)), false, 'it is that already')
    assert.equal(await setPrice(state, at(1000n)), true, 'a price may come back')
    assert.deepEqual(await inForce(), [{ price: '1000' }])
    const { rows } = await state.query<{ id: string }>('select id from prices order by nth')
    assert.equal(new Set(rows.map(({ id }) => id)).size, 4, 'each has a name of its own')
  },
)
