// "Not now" of one account hides nothing from the next one of the browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'

const kept = new Map<string, string>()
const localStorage = {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, text: string) => void kept.set(name, text),
  removeItem: (name: string) => void kept.delete(name),
}
Object.defineProperty(globalThis, 'localStorage', { value: localStorage, configurable: true })
const { declined } = await import('./declined.ts')

test('declined.of() has the steps of its own account alone', () => {
  declined.add('acct_one', 'budget')
  declined.add('acct_one', 'second-passkey')
  const isDeclined = (account: string) =>
    ['budget', 'second-passkey'].map((step) => declined.of(account).includes(step))
  assert.deepEqual(isDeclined('acct_one'), [true, true])
  assert.deepEqual(isDeclined('acct_two'), [false, false])
})
