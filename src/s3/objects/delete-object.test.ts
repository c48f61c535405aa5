import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StorageRequest } from '#s3/call.ts'
import type { Parts } from '#s3/parts.ts'
import { createDeleteObject } from './delete-object.ts'

test('a deleted object has a unit for each part but the first', async () => {
  for (const [blobs, units] of [
    [0, 0],
    [1, 0],
    [1000, 999],
  ] as const) {
    let counted = 0
    const deleted = { key: 'k', versionId: undefined, deleteMarker: false, blobs }
    const remove = createDeleteObject({
      access: { bucket: async () => ({}), allows: () => false },
      objects: { delete: async () => [deleted] },
    } as unknown as Parts)
    const { status } = await remove({
      spend: { countUnits: (count: number) => void (counted += count) },
      body: { headers: {}, target: { bucket: 'b', key: 'k', query: new Map() } },
    } as unknown as StorageRequest)
    assert.deepEqual([status, counted], [204, units])
  }
})
