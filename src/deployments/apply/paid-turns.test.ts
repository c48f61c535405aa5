import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkBill } from '#charging/work-bills.ts'
import { fault, type Code } from '#contract/errors.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { createPaidTurns } from './paid-turns.ts'
import { ACCOUNT, bucketOf, faultOf, key, log, parts, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, read, bucketIds } = stacksOfFile()

/** Turns whose bills the test makes; `told` has the marks in their order, and the names of the bills. */
function turnsOf(refused?: Code) {
  const told: string[] = []
  const bill: WorkBill = {
    isPaid: refused === undefined,
    refusal: refused && fault(refused, 'Could not pay'),
    mark: () => void told.push('account'),
    release: () => void told.push('released'),
  }
  const turns = createPaidTurns(
    { state: state(), parts, key, log },
    {
      markOwn: () => void told.push('operator'),
      bills: (operation) => ({
        async take({ account, resource }) {
          told.push(operation, account, resource)
          return bill
        },
        close: async () => undefined,
      }),
    },
  )
  return { turns, told }
}

test('a turn is on the bill of its deployment, from its begin to its end', { skip }, async () => {
  const { id } = await ask({ stack: 'paid', description: bucketOf('paid') })
  const { turns, told } = turnsOf()
  assert.equal(await turns.take({ id, account: ACCOUNT }), 'changed')
  assert.deepEqual(told.slice(0, 4), ['deployment.apply', ACCOUNT, `deployment:${id}`, 'operator'])
  assert.deepEqual(told.slice(-2), ['account', 'released'])
  const marks = told.slice(3, -1)
  assert.ok(marks.length > 10, 'each question to the state is marked')
  assert.ok(marks.every((mark, nth) => mark === (nth % 2 === 0 ? 'operator' : 'account')))
  assert.equal((await bucketIds('paid')).length, 1)
})

test('a deployment whose account cannot pay ends, and says why', { skip }, async () => {
  const { id } = await ask({ stack: 'unpaid', description: bucketOf('unpaid') })
  const { turns, told } = turnsOf('balance_depleted')
  assert.equal(await turns.take({ id, account: ACCOUNT }), 'changed')
  assert.equal(told.at(-1), 'released')
  const ended = await read(id)
  assert.deepEqual([ended.status, faultOf(ended)?.code], ['failed', 'balance_depleted'])
  assert.deepEqual(await bucketIds('unpaid'), [])
})

test('while the ledger is away a deployment waits', { skip }, async () => {
  const { id } = await ask({ stack: 'away', description: bucketOf('away') })
  const { turns } = turnsOf('state_unavailable')
  await assert.rejects(turns.take({ id, account: ACCOUNT }), { code: 'state_unavailable' })
  assert.equal((await read(id)).status, 'running')
})
