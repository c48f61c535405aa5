import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachProcessor } from './each-processor.ts'

const ADAPTERS = ['card-live', 'card-test', 'card-third'].map((name) => ({ name }))

test('eachProcessor() tells of every processor that fails, when all have ended', async () => {
  const ended: string[] = []
  const failing = (...names: string[]) =>
    eachProcessor(ADAPTERS, async ({ name }) => {
      await Promise.resolve()
      ended.push(name)
      if (names.includes(name)) throw new TypeError(`${name} is away`)
    })
  await failing()
  await assert.rejects(failing('card-test'), { name: 'TypeError', message: 'card-test is away' })
  await assert.rejects(failing('card-live', 'card-third'), {
    name: 'AggregateError',
    message: 'card-live: card-live is away; card-third: card-third is away',
  })
  assert.equal(ended.length, 9)
})
