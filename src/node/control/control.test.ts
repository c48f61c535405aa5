import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '#base/errors.ts'
import { quiet } from '#postgres/testing.ts'
import { CONTROL } from '#contract/control.ts'
import { demandHandlers, startControl } from './control.ts'

test('demandHandlers() names each operation that has no handler', () => {
  const handlers = Object.fromEntries(Object.keys(CONTROL).map((name) => [name, () => null]))
  demandHandlers(handlers)
  const { 'token.revoke': _, ...others } = handlers
  assert.throws(() => demandHandlers(others), /without a handler: token\.revoke$/)
})

test('startControl() refuses a handler of no operation', () => {
  const handlers = { 'token.forge': () => null }
  assert.throws(() => startControl({ socket: 'none', handlers, log: quiet }), InvariantError)
})
