import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { createDamages, placeOfBucket, placeOfKey } from './damage.ts'

test('a service that meets a page which cannot be read tells the operator, and of no other error', async () => {
  const raised: string[] = []
  const query: Queryable['query'] = async (_text, values) => {
    raised.push(JSON.stringify(values))
    return { rows: [], rowCount: 0 }
  }
  const log = createLogger('test', { write: () => undefined })
  const damages = createDamages({ state: { query }, log })
  const failing = damages.telling({ ask: (error: Error): Promise<void> => Promise.reject(error) })
  const unreadable = [
    new ServerError('invalid page in block 7 of relation base/5/1', 'XX001', false),
    new ServerError(
      'could not read block 3 in file "base/5/1": Input/output error',
      '58030',
      false,
    ),
  ]
  for (const error of unreadable)
    await assert.rejects(failing.ask(error), { code: 'page_damaged', cause: error })
  assert.equal(raised.filter((values) => values.includes('page_damaged')).length, 2)
  const other = new ServerError('could not fsync file "pg_wal/1"', '58030', false)
  await assert.rejects(failing.ask(other), other)
  assert.equal(damages.met(), 2)
})

test('the log of a damaged body has no name of a customer, and its alarm has', async () => {
  const raised: string[] = []
  const query: Queryable['query'] = async (_text, values) => {
    raised.push(JSON.stringify(values))
    return { rows: [{ raised: true }] as never[], rowCount: 1 }
  }
  const lines: string[] = []
  const log = createLogger('test', { write: (line) => void lines.push(line) })
  const damages = createDamages({ state: { query }, log })
  await damages.tellBody({ bucket: 7, version: 'v', found: 'f', annotation: 'ann-x', key: 'key-x' })
  assert.match(raised.join(), /ann-x.*key-x/)
  assert.match(lines.join(), /A stored body is damaged/)
  assert.doesNotMatch(lines.join(), /ann-x|key-x/)
})

test('an alarm of a page names the place of its first reader, and each body that the scrub cannot read', async () => {
  const raised: { detail: unknown; key: unknown }[] = []
  const query: Queryable['query'] = async (_text, [, detail, key] = []) => {
    raised.push({ detail: JSON.parse(String(detail)), key })
    return { rows: [{ raised: true }] as never[], rowCount: 1 }
  }
  const lines: string[] = []
  const log = createLogger('test', { write: (line) => void lines.push(line) })
  const damages = createDamages({ state: { query }, log })
  const error = new ServerError('invalid page in block 7', 'XX001', false)
  const put: (bucket: object, target: object) => Promise<void> = () => Promise.reject(error)
  const objects = damages.telling({ put }, placeOfKey)
  for (const key of ['one', 'two'])
    await assert.rejects(objects.put({ id: 7 }, { key }), { code: 'page_damaged' })
  for (const key of ['one', 'two'])
    await damages.tellPage('scrub:rows', error, { bucket: 7, key, version: 'v' })
  const found = error.message
  assert.deepEqual(
    raised.map(({ detail }) => detail),
    [
      { task: 'request', found, bucket: 7, key: 'one' },
      { task: 'request', found, bucket: 7, key: 'two' },
      { task: 'scrub:rows', found, bucket: 7, key: 'one', version: 'v' },
      { task: 'scrub:rows', found, bucket: 7, key: 'two', version: 'v' },
    ],
  )
  // Clients can name any number of keys: a page is one alarm of requests, and one for each body of the scrub.
  assert.equal(new Set(raised.map(({ key }) => key)).size, 3)
  assert.doesNotMatch(lines.join(), /one|two/)
})

test('the place of a damaged page is the bucket and the key that a method is asked for', () => {
  const bucket = { id: 7, name: 'b' }
  const places = [
    ['b', { key: 'k' }],
    [bucket, 'k'],
    [bucket, [{ key: 'k' }]],
    [bucket, [{}, {}]],
    [{ id: 'blob' }, 'k'],
    [],
  ]
  assert.deepEqual(places.map(placeOfKey), [
    { bucket: 'b', key: 'k' },
    { bucket: 7, key: 'k' },
    { bucket: 7, key: 'k' },
    { bucket: 7 },
    {},
    {},
  ])
  assert.deepEqual(placeOfBucket([bucket, 'policy']), { bucket: 7 })
})
