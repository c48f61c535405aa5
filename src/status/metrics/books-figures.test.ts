import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { booksCheck, booksFigures } from './books-figures.ts'

test(
  'booksFigures() counts alarms that nobody acknowledged, and charges behind the last checkpoint',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    const of = async (text: string) => {
      await state.query(text)
      const { alarms, receiptsWaiting } = await booksFigures(state)
      return [alarms, receiptsWaiting]
    }
    const shard = (name: string, firstLeaf: number, link: string) =>
      `insert into receipt_shards values ('${name}', '${name}', decode(repeat('00', 32), 'hex'),
         ${firstLeaf}, ${link}, now())`
    const sealed = (name: string, size: number) =>
      `insert into receipt_checkpoints (origin, size, root, note)
         values ('${name}', ${size}, decode(repeat('00', 32), 'hex'), '')`
    assert.deepEqual(await of('select 1'), [0, 0])
    assert.deepEqual(await of('update log_head set size = 7'), [0, 7])
    assert.deepEqual(await of(shard('a', 0, 'null')), [0, 7])
    assert.deepEqual(await of(sealed('a', 3)), [0, 4])
    assert.deepEqual(await of(sealed('a', 5)), [0, 2])
    assert.deepEqual(await of(shard('b', 5, `'the end of a'`)), [0, 2])
    // Its leaf 0 is the link.
    assert.deepEqual(await of(sealed('b', 1)), [0, 2])
    assert.deepEqual(await of(sealed('b', 3)), [0, 0])
    assert.deepEqual(await of(`insert into alarms (kind, detail) values ('books', '{}')`), [1, 0])
    assert.deepEqual(await of('update alarms set acknowledged_at = now()'), [0, 0])
  },
)

test('booksFigures() has the energy that no account pays for', { skip: whyNoState() }, async () => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 1)
  assert.equal((await booksFigures(state)).unattributedJ, 0)
  await state.query(
    "insert into audited_accounts (account, charges, energy_nj, charge_pusd) values ('nobody', 3, 1500000000, 0)",
  )
  assert.equal((await booksFigures(state)).unattributedJ, 1.5)
})

test(
  'booksFigures() and booksCheck() say when the books were checked, and what does not add up',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    const figures = async () => {
      const { checkedAgeS, isHalted } = await booksFigures(state)
      return [checkedAgeS, isHalted]
    }
    assert.deepEqual(await figures(), [undefined, false])
    const none = { halted_at: null, faults: [] }
    assert.deepEqual(await booksCheck(state), { checked_age_s: null, ...none })
    // The ledger's time stands still.
    const at = (second: number) =>
      state.query(`set ergon.now = '2026-11-21T00:00:${String(second).padStart(2, '0')}Z'`)
    const reconcile = () => state.query('select reconcile()')
    await at(10)
    await reconcile()
    await at(22)
    assert.deepEqual(await figures(), [12, false])
    assert.deepEqual(await booksCheck(state), { checked_age_s: 12, ...none })

    await state.query("update wallets set posted = posted + 4 where id = 'operator:energy'")
    await reconcile()
    await at(30)
    await reconcile()
    await at(31)
    assert.deepEqual(await figures(), [1, true])
    assert.deepEqual(await booksCheck(state), {
      checked_age_s: 1,
      halted_at: '2026-11-21T00:00:22.000Z',
      faults: [{ invariant: 'units_sum_to_zero', detail: 'nJ: 4' }],
    })
    await state.query("update wallets set posted = posted - 4 where id = 'operator:energy'")
    await reconcile()
    assert.deepEqual(await booksCheck(state), { checked_age_s: 0, ...none })
  },
)
