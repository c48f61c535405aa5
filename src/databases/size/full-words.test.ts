import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aheadWords, fullWords, temporaryWords } from './full-words.ts'

const MB = 1_000_000
const notes = { name: 'notes', sizeBytes: () => 64 * MB, spaceBytes: () => 1000 * MB }

test('a full database is told its size as it was asked for, and the command that enlarges it', () => {
  const { message, hint } = fullWords('size', notes)
  assert.equal(message, 'the database is full: its size is 64MB')
  assert.match(hint ?? '', /vacuum <table> for rows of ended transactions.*ergon db resize notes/)
  const temporary = temporaryWords({ ...notes, sizeBytes: () => 2000 * MB })
  assert.match(temporary.message, /in the database of 2GB$/)
  assert.match(temporary.hint ?? '', /ergon db resize notes/)
})

test('a session that is ended ahead of the limit is not told that the database is full', () => {
  const { code, message, hint } = aheadWords(notes, { bytes: 9 * MB })
  assert.equal(code, '53100')
  assert.equal(message, 'the session was about to fill the database: its size is 64MB')
  assert.match(
    hint ?? '',
    /What its transaction wrote is undone.*vacuum <table>.*ergon db resize notes/,
  )
})

test('a session that would fill the disk before the database is told so', () => {
  const full = { ...notes, spaceBytes: () => MB }
  assert.deepEqual(aheadWords(full, { bytes: 9 * MB }), fullWords('disk', full))
})
