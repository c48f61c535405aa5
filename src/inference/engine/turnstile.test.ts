import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTurnstile } from './turnstile.ts'

it('createTurnstile() holds further steps while somebody enters, and lets them go on after the last', async () => {
  const turnstile = createTurnstile()
  await turnstile.pass()
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const entering = [first, second].map(({ promise }) => turnstile.enter(() => promise))
  const passing = turnstile.pass().then(() => order.push('step'))
  order.push('first')
  first.resolve()
  await entering[0]
  order.push('second')
  second.resolve()
  await Promise.all([...entering, passing])
  assert.deepEqual(order, ['first', 'second', 'step'])
})

it('createTurnstile() opens also when what entered fails', async () => {
  const turnstile = createTurnstile()
  await assert.rejects(
    turnstile.enter(() => Promise.reject(new RangeError('gone'))),
    RangeError,
  )
  await turnstile.pass()
})
