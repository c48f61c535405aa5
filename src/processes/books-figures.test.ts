import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { booksFigures } from './books-figures.ts'

test(
  'booksFigures() counts alarms, and charges behind the last checkpoint',
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
  },
)
