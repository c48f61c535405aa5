// The words and exit codes of commands that wait for a database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CHANGE_UNDER_WAY,
  HELD_WORDS,
  TRIED_AGAIN,
  UNPAID_WORDS,
} from '#contract/resources/passing-reasons.ts'
import { stillWaiting, whyNot, type Database } from './databases.ts'
import { EXIT } from './output.ts'

const FULL = 'Could not start the server of "notes": the disk of the service is full'
const of = (status: Database['status'], reason: string | null = null) => ({
  name: 'notes',
  status,
  reason,
})

test('a database that may still get its status is waited for', () => {
  for (const one of [
    of('pending'),
    of('deploying'),
    of('failed'),
    of('failed', CHANGE_UNDER_WAY),
    of('suspended', CHANGE_UNDER_WAY),
    of('deployed', 'Could not change the roles'),
  ])
    assert.equal(whyNot(one, 'deployed'), undefined, JSON.stringify(one))
  assert.equal(whyNot(of('suspended', HELD_WORDS.budget), 'suspended'), undefined)
})

test('another wish that came meanwhile ends the wait', () => {
  for (const [one, wanted, words] of [
    [of('suspended'), 'deployed', 'notes was suspended meanwhile'],
    [of('deployed'), 'suspended', 'notes was resumed meanwhile'],
  ] as const)
    assert.equal(whyNot(one, wanted)?.message, words)
})

test('one that does not get there says why, what becomes of it, and ends by the kind of the reason', () => {
  const rows = [
    [of('failed', FULL), /Could not make notes: .*the disk of the service is full/, EXIT.failed],
    [of('deploying', FULL), /the disk of the service is full/, EXIT.failed],
    [of('failed', TRIED_AGAIN), /tried again/, EXIT.failed],
    [of('failed', UNPAID_WORDS.balance), /nothing is left of the balance/, EXIT.payment],
    [of('failed', `${UNPAID_WORDS.budget}: db_1`), /energy budget is used up/, EXIT.payment],
    [of('failed', UNPAID_WORDS.freeTier), /free tier/, EXIT.payment],
    [
      of('suspended', HELD_WORDS.balance),
      /notes is suspended: the account cannot pay/,
      EXIT.payment,
    ],
    [of('suspended', HELD_WORDS.suspended), /the operator suspended/, EXIT.failed],
  ] as const
  for (const [one, words, exitCode] of rows) {
    const error = whyNot(one, 'deployed')
    assert.match(error?.message ?? '', words)
    assert.equal(error?.exitCode, exitCode, error?.message)
    assert.match(error?.next ?? '', /ergon db show notes/)
  }
})

test('after a long time the words say how far it came', () => {
  assert.match(stillWaiting(of('pending'), 'deployed').message, /nothing has begun to make it/)
  assert.match(stillWaiting(of('deploying'), 'deployed').message, /it is still deploying/)
  assert.match(stillWaiting(of('deployed', 'a lock'), 'suspended').message, /yet: a lock/)
})
