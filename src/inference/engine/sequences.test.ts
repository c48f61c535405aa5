import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createPool } from './sequences.ts'

const never = new AbortController().signal

it('createPool() lends in the order of asking', async () => {
  const pool = createPool(['only'])
  const item = await pool.take(never)
  const order: string[] = []
  const later = ['first', 'second'].map(async (name) => {
    const taken = await pool.take(never)
    order.push(name)
    pool.give(taken)
  })
  pool.give(item)
  await Promise.all(later)
  assert.deepEqual(order, ['first', 'second'])
  assert.equal(pool.free, 1)
})

it('createPool() lends by turns of the accounts: many of one do not keep another waiting', async () => {
  const pool = createPool(['only'])
  const item = await pool.take(never, 'many')
  const order: string[] = []
  const later = ['many', 'many', 'many', 'one', 'other', 'one'].map(async (payer, place) => {
    const taken = await pool.take(never, payer)
    order.push(`${payer} ${place}`)
    pool.give(taken)
  })
  pool.give(item)
  await Promise.all(later)
  assert.deepEqual(order, ['many 0', 'one 3', 'other 4', 'many 1', 'one 5', 'many 2'])
  assert.equal(pool.free, 1)
})

it('createPool() keeps one for others than the account that has all the rest', async () => {
  const pool = createPool(['a', 'b', 'c'])
  const [first] = await Promise.all([pool.take(never, 'many'), pool.take(never, 'many')])
  let isThird = false
  const third = pool.take(never, 'many').then((item) => {
    isThird = true
    return item
  })
  const others = await pool.take(never, 'other')
  assert.equal(pool.free, 0)
  pool.give(others)
  await Promise.resolve()
  assert.deepEqual([isThird, pool.free], [false, 1])
  pool.give(first)
  pool.give(await third)
  assert.equal(pool.free, 2)
})

it('createPool() forgets who gave up waiting', async () => {
  const pool = createPool(['only'])
  const item = await pool.take(never)
  const gone = new AbortController()
  const waiting = pool.take(gone.signal)
  gone.abort(new RangeError('gone'))
  await assert.rejects(waiting, RangeError)
  pool.give(item)
  assert.equal(pool.free, 1)
})

it('createPool() refuses when too many wait', async () => {
  const pool = createPool(['only'], 1)
  await pool.take(never)
  void pool.take(never)
  assert.throws(() => pool.take(never), { code: 'overloaded', status: 503 })
})
