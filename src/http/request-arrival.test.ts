import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccountLoad } from './account-load.ts'
import type { Exchange } from './exchange.ts'
import { RequestArrival, type RequestArrivalDeps } from './request-arrival.ts'

test('the reply to a stranger for whom an account pays is read by no account', () => {
  const deps = { accounts: createAccountLoad(10) } as unknown as RequestArrivalDeps
  const arrival = new RequestArrival({} as Exchange, deps)
  arrival.arriveAsStranger('acct_payer')
  assert.equal(arrival.reader, undefined)
  arrival.leave()
})
