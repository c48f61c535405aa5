import assert from 'node:assert/strict'
import { test } from 'node:test'
import { table } from './output.ts'

test('a table shows control and format characters as escapes', () => {
  const text = table(['NAME'], [['\u001b]0;title\u0007\u202e\r\nx'], ['grün ✓']])
  assert.deepEqual(text.split('\n').slice(1), [
    String.raw`\u{1b}]0;title\u{7}\u{202e}\u{d}\u{a}x`,
    'grün ✓',
  ])
})
