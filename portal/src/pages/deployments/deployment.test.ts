// The steps of a deployment in words, and the pages of what they make.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  changesWords,
  changeWords,
  pageOf,
  stateOfStep,
  toldChanges,
  type Step,
} from './deployment.ts'

const change = {
  attribute: 'memory',
  before: '128MB',
  after: '256MB',
  hidden: false,
  pending: false,
}
const step: Step = {
  address: 'function.hello',
  kind: 'function',
  name: 'hello',
  action: 'update',
  line: 3,
  column: 1,
  changes: [change],
  outputs: {},
  notes: [],
  status: 'done',
  resource: 'fn_1',
  fault: null,
  started_at: null,
  ended_at: null,
}

test('changeWords() says what was and what is; a hidden value is never told', () => {
  assert.equal(changeWords(step, change), 'memory 128MB → 256MB')
  assert.equal(changeWords({ action: 'create' }, change), 'memory 256MB')
  assert.equal(changeWords(step, { ...change, hidden: true }), 'memory (hidden)')
  assert.equal(changeWords(step, { ...change, pending: true }), 'memory is known later')
  assert.equal(changeWords(step, { ...change, before: null }), 'memory none → 256MB')
})

test('toldChanges() leaves out what a new resource has empty', () => {
  const empty = { ...change, after: '' }
  assert.deepEqual(toldChanges({ ...step, action: 'create', changes: [empty, change] }), [change])
  assert.deepEqual(toldChanges({ ...step, changes: [empty] }), [empty])
})

test('a step that changes nothing has no state of its own', () => {
  assert.equal(stateOfStep({ action: 'none', status: 'waiting' }).word, 'As it was')
  assert.equal(stateOfStep({ action: 'create', status: 'skipped' }).word, 'Not done')
  assert.equal(changesWords({ changes: 0 }), 'nothing to change')
  assert.equal(changesWords({ changes: 1 }), '1 change')
})

test('pageOf() leads to what is there', () => {
  assert.equal(pageOf(step), '/functions/hello')
  assert.equal(pageOf({ ...step, kind: 'webhook', resource: 'wh_1' }), '/webhooks/wh_1')
  for (const gone of [{ action: 'delete' }, { resource: null }, { kind: 'route' }] as const)
    assert.equal(pageOf({ ...step, ...gone }), undefined)
})
