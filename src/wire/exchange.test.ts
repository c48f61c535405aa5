// Answers that no honest server sends: none of them becomes a row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { Asking } from './exchange.ts'
import { int32, TYPE } from './messages.ts'
import { codecOf } from './values.ts'
import { WireQuery } from './wire-query.ts'

const OID = { bool: 16, int4: 23, text: 25, texts: 1009, timestamptz: 1184 } as const
const int16 = (value: number) => int32(value).subarray(2)
const value = (bytes: Buffer | string) => {
  const body = Buffer.from(bytes)
  return Buffer.concat([int32(body.length), body])
}
const NULL = int32(-1)

type Lie = {
  readonly of: readonly (keyof typeof OID)[]
  readonly row: Buffer[]
  tag?: string
  next?: Buffer
}

/** The answer of a query for one row; `next` lies behind the row in the memory of the socket. */
function answered({ of, row, tag = 'SELECT 1\0', next = Buffer.alloc(0) }: Lie) {
  const query = new WireQuery(
    { text: '', values: [], sinceMs: systemClock.monotonicMs() },
    { resolve: () => undefined, reject: () => undefined },
  )
  const columns = of.map((type, n) => ({ name: `c${n}`, codec: codecOf(OID[type]) }))
  const asking = new Asking(query, columns)
  asking.take(TYPE.bindComplete, Buffer.alloc(0), 0, 0)
  const body = Buffer.concat([int16(of.length), ...row])
  if (row.length > 0) asking.take(TYPE.dataRow, Buffer.concat([body, next]), 0, body.length)
  const bytes = Buffer.from(tag, 'latin1')
  asking.take(TYPE.commandComplete, bytes, 0, bytes.length)
  return asking.answer?.rows[0]
}

const array = (...parts: Buffer[]) => value(Buffer.concat(parts))
const TWO = ['text', 'text'] as const
const X_Y = [value('x'), value('y')]
const ONE_TEXT = [int32(1), int32(0), int32(OID.text), int32(1), int32(1)]

const LIES: Record<string, Lie> = {
  'a row that ends before the length of its last column': {
    of: TWO,
    row: [value('x')],
    next: NULL,
  },
  'a row that ends within the length of its last column': {
    of: TWO,
    row: [value('x'), Buffer.from([0xff])],
    next: Buffer.from([0xff, 0xff, 0xff]),
  },
  'a length beyond the row': { of: TWO, row: [value('x'), int32(4)], next: Buffer.from('next') },
  'a length below that of null': { of: TWO, row: [value('x'), int32(-2)] },
  'the least length': { of: TWO, row: [value('x'), int32(-(2 ** 31))] },
  'bytes after the last column': { of: TWO, row: [...X_Y, Buffer.from('z')] },
  'a bool of 7': { of: ['bool'], row: [value(Buffer.from([7]))] },
  'an int4 of three bytes': { of: ['int4'], row: [value('abc')], next: Buffer.from('d') },
  'an array of another type': {
    of: ['texts'],
    row: [array(int32(1), int32(0), int32(OID.int4), int32(1), int32(1), value('abcd'))],
  },
  'an empty array of another type': {
    of: ['texts'],
    row: [array(int32(0), int32(0), int32(OID.int4))],
  },
  'bytes after an array': {
    of: ['texts'],
    row: [array(...ONE_TEXT, value('x'), Buffer.from('z'))],
  },
  'bytes after an empty array': {
    of: ['texts'],
    row: [array(int32(0), int32(0), int32(OID.text), int32(1))],
  },
  'an array that is cut in its head': {
    of: ['texts'],
    row: [array(int32(1))],
    next: Buffer.concat(ONE_TEXT.slice(1)),
  },
  'an array that is cut before an item': {
    of: ['texts'],
    row: [array(...ONE_TEXT)],
    next: value('x'),
  },
  'an array that is cut in an item': {
    of: ['texts'],
    row: [array(...ONE_TEXT, int32(4), Buffer.from('x'))],
    next: Buffer.from('yzä'),
  },
  'an array with a length below that of null': {
    of: ['texts'],
    row: [array(...ONE_TEXT, int32(-5))],
  },
  'an array of two dimensions': {
    of: ['texts'],
    row: [array(int32(2), ...ONE_TEXT.slice(1), int32(1), int32(1), value('x'))],
  },
  'an array of a negative count': {
    of: ['texts'],
    row: [array(int32(1), int32(0), int32(OID.text), int32(-1), int32(1))],
  },
  'a tag of another number': { of: TWO, row: X_Y, tag: 'SELECT 2\0' },
  'a tag without a number': { of: TWO, row: X_Y, tag: 'SELECT\0' },
  'a tag without its end': { of: TWO, row: X_Y, tag: 'SELECT 1' },
  'a tag of no command': { of: TWO, row: X_Y, tag: 'SELEKT 1\0' },
  'a tag with more before': { of: TWO, row: X_Y, tag: 'A SELECT 1\0' },
  'a transaction that was rolled back': { of: TWO, row: X_Y, tag: 'ROLLBACK\0' },
  'a transaction of no rows that was rolled back': { of: [], row: [], tag: 'ROLLBACK\0' },
}

for (const [name, lie] of Object.entries(LIES))
  test(`${name} is refused`, () => {
    assert.throws(
      () => answered(lie),
      (error: Error) => error.name === 'ProtocolError' || error instanceof RangeError,
    )
  })

test('honest answers are rows', () => {
  const row = [value('x'), NULL]
  assert.deepEqual(answered({ of: TWO, row }), { c0: 'x', c1: null })
  assert.deepEqual(answered({ of: ['bool'], row: [value(Buffer.from([0]))] }), { c0: false })
  assert.deepEqual(
    answered({ of: ['texts'], row: [array(...ONE_TEXT, value('x'))], tag: 'INSERT 0 1\0' }),
    { c0: ['x'] },
  )
  assert.deepEqual(answered({ of: ['texts'], row: [array(int32(0), int32(0), int32(OID.text))] }), {
    c0: [],
  })
  for (const tag of ['CREATE TABLE\0', 'NOTIFY\0', 'DELETE 7\0', 'DO\0'])
    assert.equal(answered({ of: [], row: [], tag }), undefined)
})
