import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createStoreTurns } from './store-turns.ts'

const { signal } = new AbortController()

test('stores of one account that take for ever leave turns to the others, in their order', async () => {
  const turns = createStoreTurns({ all: 4, account: 2 })
  const began: string[] = []
  const take = async (name: string, account: string) => {
    const taken = await turns.take(account, signal)
    began.push(name)
    return taken
  }
  for (let nth = 0; nth < 10; nth++) void take(`slow ${nth}`, 'slow')
  const first = await take('first', 'a')
  const second = await take('second', 'b')
  const later = ['third', 'fourth'].map((name) => take(name, name))
  await turn()
  assert.deepEqual(began, ['slow 0', 'slow 1', 'first', 'second'])
  first[Symbol.dispose]()
  await later[0]
  second[Symbol.dispose]()
  await later[1]
  assert.deepEqual(began.slice(4), ['third', 'fourth'])
})

test('a store that gives its turn up takes none later', async () => {
  const turns = createStoreTurns({ all: 1, account: 1 })
  const taken = await turns.take('a', signal)
  const giving = new AbortController()
  const given = turns.take('b', giving.signal)
  giving.abort(new Error('too late'))
  await assert.rejects(given, /too late/)
  taken[Symbol.dispose]()
  using _next = await turns.take('c', signal)
})
