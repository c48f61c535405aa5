// "Not now" of one account hides nothing from the next one of the browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setLocalStorage } from '#console/client/storage.fixture.ts'

setLocalStorage()
const { declined } = await import('./declined.ts')

test('declined.of() has the steps of its own account alone', () => {
  declined.add('acct_one', 'budget')
  declined.add('acct_one', 'second-passkey')
  const isDeclined = (account: string) =>
    ['budget', 'second-passkey'].map((step) => declined.of(account).includes(step))
  assert.deepEqual(isDeclined('acct_one'), [true, true])
  assert.deepEqual(isDeclined('acct_two'), [false, false])
})
