import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { offerOf, quietLog } from '#inference/testing/offers.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { keepLearned } from './learned-costs.ts'

const tokens = { prompt: 100, completion: 50 }
const offer = offerOf()

test('learned costs of a gateway are there at its next start', { skip: whyNoState() }, async () => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 3)
  await state.query(
    `insert into models (id, offer, provider, state, is_default)
     values ($1, '{}', '{}', 'ready', false)`,
    [offer.id],
  )
  const open = (process: string) => keepLearned({ state, log: quietLog, process })
  const first = await open('gw-1')
  for (let i = 0; i < 20; i++) first.learned.record(offer, tokens, nj(9_000_000_000n))
  // One that nobody serves any more is not kept.
  first.learned.record(offerOf({ id: 'gone' }), tokens, nj(1n))
  await first.close()
  for (const process of ['gw-1', 'gw-2']) {
    const next = await open(process)
    assert.deepEqual(
      next.learned.perThousandTokens(offer),
      first.learned.perThousandTokens(offer),
      process,
    )
    await next.close()
  }
  const { rows } = await state.query('select process, model from learned_costs')
  assert.deepEqual(rows, [{ process: 'gw-1', model: offer.id }])
  await state.query('delete from models')
  const last = await open('gw-1')
  assert.equal(last.learned.isKnown(offer), false)
  await last.close()
})
