import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { LINE_CHARACTERS_MAX, lineOf, onLines } from './json-lines.ts'

/** The values of a stream in these chunks, and the error that ended it. */
async function linesOf(chunks: readonly (string | Buffer)[]) {
  const stream = new PassThrough()
  const values: unknown[] = []
  onLines(stream, (value) => values.push(value))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  const error = await finished(stream).then(
    () => undefined,
    (cause: Error) => cause.name,
  )
  return { values, error }
}

test('lines come whole, however the stream is cut', async () => {
  const sent = [{ a: 'ü€😀' }, {}, { b: [1, 2] }]
  const bytes = Buffer.from(sent.map(lineOf).join(''))
  const whole = { values: sent, error: undefined }
  assert.deepEqual(await linesOf([bytes]), whole)
  assert.deepEqual(await linesOf([...bytes].map((byte) => Buffer.from([byte]))), whole)
})

test('many short lines at once are no long line', async () => {
  const sent = Array.from({ length: 10_000 }, (_, n) => ({ n }))
  const { values, error } = await linesOf([`{"n":`, `-1}\n${sent.map(lineOf).join('')}`])
  assert.deepEqual([values.length, error], [10_001, undefined])
})

test('a line that is too long, whole or not, and one that is no JSON end the stream', async () => {
  const longest = lineOf({ a: 'x'.repeat(LINE_CHARACTERS_MAX - 8) })
  assert.equal((await linesOf([longest])).values.length, 1)
  const tooLong = `${longest.slice(0, -2)}  }\n`
  for (const text of [tooLong, tooLong.trim()])
    assert.deepEqual(await linesOf(['{}\n', text]), { values: [{}], error: 'RangeError' })
  assert.deepEqual(await linesOf(['{"a"\n']), { values: [], error: 'SyntaxError' })
})
