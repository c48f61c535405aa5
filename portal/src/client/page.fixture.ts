// A document for tests in Node: tests of one process share their globals, so the one before comes back.
import type { TestContext } from 'node:test'

/** Sets `document` to a page that is visible, until the end of the test. */
export function pageOf(t: TestContext): EventTarget & { hidden: boolean } {
  const page = Object.assign(new EventTarget(), { hidden: false })
  const before = Object.getOwnPropertyDescriptor(globalThis, 'document')
  Object.defineProperty(globalThis, 'document', { value: page, configurable: true })
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'document')
    if (before !== undefined) Object.defineProperty(globalThis, 'document', before)
  })
  return page
}
