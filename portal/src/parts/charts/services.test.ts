import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS } from '#contract/operations.ts'
import { operationName } from './services.ts'

test('operationName() differs for all operations of the contract', () => {
  const byName = Map.groupBy(Object.keys(OPERATIONS), operationName)
  const shared = [...byName].filter(([, operations]) => operations.length > 1)
  assert.deepEqual(shared, [])
})

test('operationName() is a word for work, and says what else was done', () => {
  const words = ['chat.create', 'database.create', 'database.get', 'function.standing']
  assert.deepEqual(words.map(operationName), [
    'chat',
    'database made',
    'database read',
    'function awake',
  ])
})
