// A PUT that finds nobody signed in says so, as every other request of the console.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProblem } from './problem.ts'
import { sendBody } from './send-body.ts'
import { onSignedOut } from './signed-out.ts'

function answers(status: number): void {
  const value = class extends EventTarget {
    readonly upload = new EventTarget()
    readonly status = status
    readonly responseText = ''
    open(): void {}
    send(): void {
      for (const type of ['load', 'loadend']) this.dispatchEvent(new Event(type))
    }
  }
  Object.defineProperty(globalThis, 'XMLHttpRequest', { value, configurable: true })
}

test('an upload that is refused for want of a sign-in shows Sign in; another refusal does not', async () => {
  let told = 0
  onSignedOut(() => void told++)
  const { signal } = new AbortController()
  for (const [status, count] of [
    [403, 0],
    [401, 1],
  ] as const) {
    answers(status)
    const sent = sendBody('/s3/b/k', new Blob(['x']), {
      headers: {},
      signal,
      onProgress: () => undefined,
    })
    await assert.rejects(sent, (error) => isProblem(error) && error.status === status)
    assert.equal(told, count)
  }
})
