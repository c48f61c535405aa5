import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StorageRequest } from '#s3/call.ts'
import type { Parts } from '#s3/parts.ts'
import { createDeleteBucket } from './delete-bucket.ts'

test('a deleted bucket has a unit for each part of its open uploads but the first', async () => {
  for (const [parts, units] of [
    [0, 0],
    [1, 0],
    [1000, 999],
  ] as const) {
    let counted = 0
    const remove = createDeleteBucket({
      access: { bucket: async () => ({}) },
      buckets: { delete: async () => parts },
    } as unknown as Parts)
    const { status } = await remove({
      spend: { countUnits: (count: number) => void (counted += count) },
      body: { headers: {}, target: { bucket: 'b', query: new Map() } },
    } as unknown as StorageRequest)
    assert.deepEqual([status, counted], [204, units])
  }
})
