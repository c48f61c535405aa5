import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { ACCOUNT, makeBucket, withStore, type Store } from '#objects/store.fixture.ts'
import { joined } from '#s3/body/receive.ts'
import { createDeliver, type DeliverDeps } from './deliver.ts'

const skip = whyNoState()
let store: Store
withStore(4, (opened) => (store = opened))

/** Bodies in their rows, not encrypted. */
const RECEIVER = {
  async admit() {},
  async take(chunks: AsyncIterable<Buffer>) {
    const bytes = await joined(chunks)
    return { body: { kind: 'inline', bytes }, size: bytes.length, etag: 'e', checksums: {} }
  },
} as unknown as DeliverDeps['receiver']
const NO_METER = { mark() {}, claim() {}, claimThread() {} }
const PLAIN = {
  byDefault: () => undefined,
  keyFor: () => undefined,
} as unknown as DeliverDeps['encrypting']

test('nothing is delivered to an account that is read-only', { skip }, async () => {
  const { state, buckets, objects } = store
  const source = await makeBucket(store, 'logged')
  const target = await makeBucket(store, 'logs')
  const deliver = createDeliver({
    buckets,
    objects,
    receiver: RECEIVER,
    encrypting: PLAIN,
    clock: systemClock,
    during: (_, work, signal) => work(NO_METER, signal),
  })
  const once = (unique: string) =>
    deliver(
      {
        bucket: source,
        unique,
        lines: ['a line'],
        bytes: 7,
        logging: { bucket: 'logs', prefix: 'p/', format: 'simple' },
        eventTimeMs: 0,
        deliveryTimeMs: 0,
      },
      new AbortController().signal,
    )
  const stored = async () => {
    const { rows } = await state.query('select from object_versions where bucket = $1', [target.id])
    return rows.length
  }
  assert.equal(await once('A'), true)
  assert.equal(await stored(), 1)

  await state.query(
    "insert into wallets (id, unit, posted, bounded) values ('money:' || $1, 'tUSD', 1, true)",
    [ACCOUNT],
  )
  await state.query(
    "insert into reserves (wallet, kind, wanted, amount) values ('money:' || $1, 'retention', 2, 0)",
    [ACCOUNT],
  )
  assert.equal((await buckets.get('logs')).isReadOnly, true)
  assert.equal(await once('B'), false)
  assert.equal(await stored(), 1)
})
