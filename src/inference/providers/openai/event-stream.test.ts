import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createEventStream, type StreamItem } from './event-stream.ts'

const parse = (pieces: readonly Uint8Array[], eventBytesMax = 1 << 20): StreamItem[] => {
  const stream = createEventStream({ eventBytesMax })
  return pieces.flatMap((piece) => stream.push(piece))
}
const bytes = (text: string) => Buffer.from(text, 'utf8')

/** Cuts bytes at the given places. */
function cut(whole: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (whole.length + 1)))].toSorted(
    (a, b) => a - b,
  )
  return [0, ...at].map((from, index) => whole.subarray(from, at[index] ?? whole.length))
}

const lineText = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .filter((text) => !/[\r\n]/.test(text))
const item: fc.Arbitrary<StreamItem> = fc.oneof(
  lineText.map((text) => ({ kind: 'comment' as const, text })),
  fc.record(
    {
      kind: fc.constant('event' as const),
      name: fc.constantFrom('', 'message', 'error'),
      data: fc.array(lineText, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
    },
    { noNullPrototype: true },
  ),
)

const printed = (one: StreamItem, end: string): string =>
  one.kind === 'comment'
    ? `: ${one.text}${end}`
    : [
        ...(one.name === '' ? [] : [`event: ${one.name}`]),
        'id: 7',
        ...one.data.split('\n').map((line) => `data: ${line}`),
        '',
        '',
      ].join(end)

test('an event stream reads the same items however its bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 8 }),
      fc.constantFrom('\n', '\r', '\r\n'),
      fc.array(fc.nat(), { maxLength: 30 }),
      fc.boolean(),
      (items, end, places, hasBom) => {
        const text = items.map((one) => printed(one, end)).join('')
        const whole = bytes((hasBom ? '\uFEFF' : '') + text)
        assert.deepEqual(parse(cut(whole, places)), items)
      },
    ),
    { numRuns: 300 },
  )
})

test('an event stream reads one byte at a time', () => {
  const whole = bytes('data: {"é":"€𝄞"}\r\n\r\ndata: [DONE]\n\n')
  assert.deepEqual(parse([...whole].map((byte) => Uint8Array.of(byte))), [
    { kind: 'event', name: '', data: '{"é":"€𝄞"}' },
    { kind: 'event', name: '', data: '[DONE]' },
  ])
})

test('an event stream drops an event that is not ended, and fields it does not know', () => {
  assert.deepEqual(parse([bytes('retry: 5\nfoo\ndata:a\n\ndata: b\n')]), [
    { kind: 'event', name: '', data: 'a' },
  ])
})

test('an event stream refuses a line without end, in one piece or many', () => {
  const refusal = { code: 'upstream_failed', status: 502 }
  assert.throws(() => parse([bytes(`data: ${'x'.repeat(200)}`)], 100), refusal)
  assert.throws(() => parse([bytes('data: '), ...Array(30).fill(bytes('xxxxx'))], 100), refusal)
  // A line that cannot become a field is read past, not kept.
  assert.deepEqual(parse([...Array(30).fill(bytes('xxxxx')), bytes('\ndata: a\n\n')], 100), [
    { kind: 'event', name: '', data: 'a' },
  ])
})

test('an event stream refuses an event of endlessly many lines', () => {
  assert.throws(() => parse(Array(50).fill(bytes('data: xxxxx\n')), 100), {
    code: 'upstream_failed',
  })
})
