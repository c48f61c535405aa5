import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLastKnown } from './last-known.ts'

test('a fact is as the state has it, and as it was before while the state is away or silent', async () => {
  let answer: () => Promise<number> = () => Promise.resolve(1)
  const facts = createLastKnown(() => answer())
  const away = () => Promise.reject(new Error('away'))
  answer = away
  await assert.rejects(facts.read('a'), /away/)
  answer = () => Promise.resolve(1)
  assert.equal(await facts.read('a'), 1)
  answer = () => Promise.resolve(2)
  assert.equal(await facts.read('a'), 2)
  answer = away
  assert.equal(await facts.read('a'), 2)
  answer = () => new Promise(() => undefined)
  assert.equal(await facts.read('a'), 2)
  answer = away
  facts.forget('a')
  await assert.rejects(facts.read('a'), /away/)
})
