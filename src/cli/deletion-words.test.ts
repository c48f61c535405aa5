import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deletionWords } from './deletion-words.ts'

test('deletionWords() names the way back until the deletion begins, and none after', () => {
  const at = '2026-12-03T10:00:00.000Z'
  const ms = Date.parse(at)
  assert.equal(
    deletionWords(at, ms - 1),
    `on ${at}; until then ergon account restore takes it back`,
  )
  assert.equal(deletionWords(at, ms), `since ${at}; nobody can take it back`)
})
