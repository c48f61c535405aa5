import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askOnce } from './ask-once.ts'
import { CommandError } from './output.ts'

test('askOnce() repeats an unknown outcome under the same key', async () => {
  const keys: string[] = []
  const answer = await askOnce(
    async (key) => {
      keys.push(key)
      if (keys.length === 1) throw new CommandError('The answer was lost')
      return 'done'
    },
    { isUnknown: () => true, look: 'ergon admin account list' },
  )
  assert.equal(answer, 'done')
  assert.equal(keys.length, 2)
  assert.equal(keys[0], keys[1])
})

test('askOnce() does not repeat a refusal', async () => {
  let asked = 0
  const refused = askOnce(
    async () => {
      asked++
      throw new CommandError('Refused')
    },
    { isUnknown: () => false, look: 'ergon admin account list' },
  )
  await assert.rejects(refused, /Refused/)
  assert.equal(asked, 1)
})
