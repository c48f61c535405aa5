import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRequestCounts, DURATIONS_S, type CountedCharge } from './request-counts.ts'

const chargeOf = (more: Partial<CountedCharge> = {}): CountedCharge => ({
  id: 'c',
  operation: 'chat.create',
  status: 200,
  energy_nj: '0',
  carbon_pg: '0',
  ...more,
})

it('add() counts by operation, class of status and duration', () => {
  const counts = createRequestCounts()
  assert.deepEqual([counts.operations(), counts.models()], [[], []])
  counts.add('chat.create', chargeOf(), 30)
  counts.add('chat.create', chargeOf(), 25)
  counts.add('chat.create', chargeOf({ status: 429 }), 0)
  counts.add('usage.last', chargeOf({ operation: 'usage.last', status: 503 }), 61_000)
  assert.equal(DURATIONS_S[1], 0.025)
  assert.deepEqual(counts.operations(), [
    { operation: 'chat.create', durations: [1, 1, 1, 0, 0, 0, 0, 0], totalS: 0.055 },
    { operation: 'usage.last', durations: [0, 0, 0, 0, 0, 0, 0, 1], totalS: 61 },
  ])
  assert.deepEqual(
    counts.models().map(({ operation, statuses }) => [operation, statuses]),
    [
      ['chat.create', [0, 2, 0, 1, 0]],
      ['usage.last', [0, 0, 0, 0, 1]],
    ],
  )
})

it('add() adds up energy, carbon and tokens by operation and model', () => {
  const counts = createRequestCounts()
  const cost = { energy_nj: '5', carbon_pg: '3', prompt_tokens: '9', completion_tokens: '2' }
  for (const model of ['one', 'two', 'one'])
    counts.add('chat.create', chargeOf({ model, ...cost }), 0)
  const figures = counts
    .models()
    .map(({ model, energyNj, carbonPg, promptTokens, completionTokens }) => [
      model,
      [energyNj, carbonPg, promptTokens, completionTokens],
    ])
  assert.deepEqual(figures, [
    ['one', [10, 6, 18, 4]],
    ['two', [5, 3, 9, 2]],
  ])
})

it('add() counts the charge that requests of nobody share once, for the operation of nobody', () => {
  const counts = createRequestCounts()
  for (const id of ['a', 'a', 'a', 'b'])
    counts.add(
      'chat.create',
      chargeOf({ id, operation: 'service.nobody', status: 401, energy_nj: '7' }),
      0,
    )
  const energies = counts
    .models()
    .map(({ operation, statuses, energyNj }) => [operation, statuses[3], energyNj])
  assert.deepEqual(energies, [
    ['chat.create', 4, 0],
    ['service.nobody', 0, 14],
  ])
})

it('models beyond a hundred share a name', () => {
  const counts = createRequestCounts()
  for (let number = 0; number < 1000; number++)
    counts.add('chat.create', chargeOf({ model: `model-${number}`, energy_nj: '1' }), 0)
  const models = counts.models()
  assert.equal(models.length, 101)
  assert.deepEqual([models.at(-1)?.model, models.at(-1)?.energyNj], ['other', 900])
})

it('accounts: failures are answers of 500 and above, and no refusal is one', () => {
  const { add, accounts } = createRequestCounts()
  for (const status of [200, 402, 404, 429, 499, 500, 501, 503, 504])
    add('chat.create', chargeOf({ status }), 0, 'acct_a')
  add('chat.create', chargeOf({ status: 503, operation: 'service.nobody' }), 0)
  assert.deepEqual([...accounts.take()], [['acct_a', { requests: 9, failures: 3 }]])
  assert.deepEqual([...accounts.take()], [], 'taken once')
})

it('accounts: what is put back is added to what came meanwhile', () => {
  const { add, accounts } = createRequestCounts()
  add('chat.create', chargeOf({ status: 500 }), 0, 'acct_a')
  const taken = accounts.take()
  add('chat.create', chargeOf(), 0, 'acct_a')
  accounts.putBack(taken)
  assert.deepEqual([...accounts.take()], [['acct_a', { requests: 2, failures: 1 }]])
})
