// Objects of many large parts: their checksums alone would be more than one answer of the state may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { PART_COUNT_MAX } from './create-uploads.ts'
import {
  ACCOUNT,
  attributes,
  inlineObject,
  makeBucket,
  part,
  partsObject,
  withStore,
  type Store,
} from './store.fixture.ts'

const skip = whyNoState()
const GIB = 1024 ** 3
const PART_SIZE = 5 * GIB
/** The checksum of a part of 5 GiB has so many characters. */
const CHECKSUM_LENGTH = 109_238
const KEYS = Array.from({ length: 24 }, (_, n) => `small-${n}`)
let store: Store
withStore(4, (opened) => (store = opened))

/** A bucket with small objects and an object of parts whose checksums are as long as real ones. */
async function fill(name: string, sizes: readonly number[]) {
  const bucket = await makeBucket(store, name)
  for (const key of KEYS) await store.objects.put(bucket, key, inlineObject(key))
  const { attributes, body } = partsObject('large', sizes)
  // A wrapped key, and the longest checksums that a part may have.
  const parts = body.parts.map((part) => ({
    ...part,
    checksums: { SHA512: 'x'.repeat(88) },
    encryption: { kind: 'sse', envelope: 'x'.repeat(200) },
  }))
  await store.objects.put(bucket, 'large', { attributes, body: { kind: 'parts', parts } })
  await store.state.query(
    `update blobs set checksum = 'crc32-256k:' || repeat('A', $1)
     where id in (select (p ->> 'blob')::uuid from object_versions, jsonb_array_elements(parts) p
       where bucket = $2)`,
    [CHECKSUM_LENGTH, bucket.id],
  )
  return { bucket, parts }
}

test(
  'an object of the most and largest parts is found, and so is what is asked with it',
  { skip },
  async () => {
    const { bucket, parts } = await fill('largest', Array(PART_COUNT_MAX).fill(PART_SIZE))
    const asked = KEYS.flatMap((key, n) => (n % 3 === 0 ? [key, 'large'] : [key]))
    const found = await Promise.all(asked.map((key) => store.objects.find(bucket.name, { key })))
    for (const [at, one] of found.entries()) {
      assert.equal(one.found?.version.etag, asked[at] === 'large' ? 'large' : `e-${asked[at]}`)
      if (asked[at] !== 'large') continue
      const { body } = one.found
      assert.ok(body.kind === 'parts')
      assert.deepEqual(
        body.parts.map((one) => ({ ...one, blob: one.blob.id })),
        parts.map((one) => ({ ...one, blob: one.blob.id })),
      )
    }
  },
)

test(
  'the find of an object above 1 GiB has no checksums, one up to it has them',
  { skip },
  async () => {
    for (const [name, sizes, length] of [
      ['at-limit', [GIB / 2, GIB / 2], 11 + CHECKSUM_LENGTH],
      ['above-limit', [GIB / 2, GIB / 2 + 1], undefined],
    ] as const) {
      const { bucket, parts } = await fill(name, sizes)
      const { found } = await store.objects.find(bucket.name, { key: 'large' })
      assert.ok(found?.body.kind === 'parts')
      assert.deepEqual(
        found.body.parts.map(({ blob }) => blob.checksum?.length),
        [length, length],
        name,
      )
      assert.deepEqual(
        found.body.parts.map(({ blob }) => blob.id),
        parts.map(({ blob }) => blob.id),
      )
    }
  },
)

test(
  'the parts of an upload have no checksums of their bytes, which nobody reads by it',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'upload')
    const { id: uploadId } = await store.uploads.create(bucket, {
      key: 'k',
      initiator: ACCOUNT,
      attributes: attributes('', 0),
    })
    const name = { key: 'k', uploadId }
    await store.uploads.putPart(bucket, name, part(1, 5, 'p1'))
    const { parts } = await store.uploads.parts(bucket, name, { after: 0, limit: 10 })
    assert.deepEqual(
      parts.map(({ blob }) => Object.keys(blob).toSorted()),
      [['id', 'location', 'size']],
    )
  },
)
