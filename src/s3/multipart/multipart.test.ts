import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { StorageRequest } from '#s3/call.ts'
import type { Parts } from '#s3/parts.ts'
import { createAbortMultipartUpload, createListParts } from './open-uploads.ts'

/** Finds an upload by these parameters; the judge gets the account that began it. */
function ask(
  create: typeof createListParts,
  find: () => Promise<{ initiator: string } | undefined>,
  parts = 0,
) {
  const told: (string | undefined)[] = []
  const counted = { units: 0 }
  const asked = create({
    access: {
      bucket: async (_: unknown, initiatorIn?: (bucket: object) => Promise<string | undefined>) =>
        void told.push(await initiatorIn?.({})),
    },
    uploads: {
      find,
      abort: async () => parts,
      parts: () => Promise.reject(storageFault('NoSuchUpload')),
    },
  } as unknown as Parts)
  const query = new Map([['uploadId', 'u']])
  const request = {
    spend: { countUnits: (count: number) => void (counted.units += count) },
    body: { target: { bucket: 'b', key: 'k', query } },
  } as unknown as StorageRequest
  return { told, counted, done: asked(request) }
}

test('an abort is judged by who began the upload, or nobody where there is none', async () => {
  const one = ask(createAbortMultipartUpload, async () => ({ initiator: 'acct_a' }))
  await one.done
  assert.deepEqual(one.told, ['acct_a'])
  const none = ask(createAbortMultipartUpload, async () => undefined)
  await none.done
  assert.deepEqual(none.told, [undefined])
})

test('an abort has a unit for each part but the first', async () => {
  for (const [parts, units] of [
    [0, 0],
    [1, 0],
    [1000, 999],
  ] as const) {
    const one = ask(createAbortMultipartUpload, async () => ({ initiator: 'acct_a' }), parts)
    await one.done
    assert.equal(one.counted.units, units)
  }
})

test('a list of parts is judged by who began the upload', async () => {
  const one = ask(createListParts, async () => ({ initiator: 'acct_a' }))
  await assert.rejects(one.done, { code: 'NoSuchUpload' })
  assert.deepEqual(one.told, ['acct_a'])
})

test('an upload that cannot be looked up is no refusal', async () => {
  for (const create of [createAbortMultipartUpload, createListParts]) {
    const away = ask(create, () => Promise.reject(fault('state_unavailable', 'Could not ask')))
    await assert.rejects(away.done, { code: 'state_unavailable' })
    assert.deepEqual(away.told, [])
  }
})
