import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { FREE_PAYER } from '#charging/gateway.fixture.ts'
import type { Handler } from './reply.ts'
import { createRequestCounts, DURATIONS_S, type CountedCharge } from './request-counts.ts'
import { startTestHttp } from './test-server.fixture.ts'

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

it('accounts: a stranger for whom an account pays counts for none', async () => {
  const known: Handler = () => ({ kind: 'known', status: 200, body: () => ({}) })
  await using http = await startTestHttp({
    '/own': known,
    '/public': (call) => {
      call.arriveAsStranger('acct_owner')
      return known(call)
    },
  })
  const ask = async (path: string, account: string) => {
    const headers = { 'x-account': account }
    const answer = await fetch(`http://127.0.0.1:${http.port}${path}`, { headers })
    assert.equal(answer.status, 200)
    await answer.text()
  }
  for (let left = 3; left > 0; left--) await ask('/public', 'none')
  await ask('/own', FREE_PAYER.account)
  const counted = () => http.counts.accounts.requestsOf(FREE_PAYER.account)
  for (let left = 100; left > 0 && counted() === 0; left--) await pause(10)
  assert.deepEqual(
    [...http.counts.accounts.take()].map(([account]) => account),
    [FREE_PAYER.account],
  )
})
