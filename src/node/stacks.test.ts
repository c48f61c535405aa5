import assert from 'node:assert/strict'
import { test } from 'node:test'
import './stacks.ts'

test("a stack is there whatever its error's fields do, and begins as Node writes it", () => {
  class Odd extends Error {
    override toString(): string {
      throw new Error('never asked')
    }
  }
  const unreadable = Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('never said')
    },
  })
  const coded = Object.assign(new TypeError('bad'), { code: 'ERR_BAD' })
  const oddlyCoded = Object.assign(new Error('bad'), { code: Object.create(null) as unknown })
  const plain: { stack?: string } = {}
  Error.captureStackTrace(plain)
  const heads = [new Odd('words'), coded, oddlyCoded, unreadable, plain].map(
    ({ stack }) => String(stack).split('\n', 1)[0],
  )
  const expected = ['Error: words', 'TypeError [ERR_BAD]: bad', 'Error: bad', '<error>', 'Error']
  assert.deepEqual(heads, expected)
  assert.equal(Error.prepareStackTrace?.('no error' as unknown as Error, []), '<error>')
})
