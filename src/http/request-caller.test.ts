import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccountLoad } from './account-load.ts'
import type { Exchange } from './exchange.ts'
import { RequestCaller, type RequestCallerDeps } from './request-caller.ts'

test('the reply to a stranger for whom an account pays is read by no account', () => {
  const deps = { accounts: createAccountLoad(10) } as unknown as RequestCallerDeps
  const caller = new RequestCaller({} as Exchange, deps)
  caller.arriveAsStranger('acct_payer')
  assert.equal(caller.reader, undefined)
  caller.leave()
})
