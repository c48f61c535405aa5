import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { storageFault } from '#storage/errors.ts'
import type { StorageRequest } from '#storage/s3/call.ts'
import type { StorageDeps } from '#storage/s3/deps.ts'
import { createAbortMultipartUpload } from './multipart.ts'

/** Aborts an upload that is looked up so; who began it is told to the one who judges. */
function abort(get: () => Promise<{ initiator: string }>) {
  const told: (string | undefined)[] = []
  const aborting = createAbortMultipartUpload({
    access: {
      bucket: async (_: unknown, initiatorIn: (bucket: object) => Promise<string | undefined>) =>
        void told.push(await initiatorIn({})),
    },
    uploads: { get, abort: async () => undefined },
  } as unknown as StorageDeps)
  const query = new URLSearchParams({ uploadId: 'u' })
  const request = {
    body: { target: { bucket: 'b', key: 'k', query } },
  } as unknown as StorageRequest
  return { told, done: aborting(request) }
}

test('an abort is judged by who began the upload, or nobody where there is none', async () => {
  const one = abort(async () => ({ initiator: 'acct_a' }))
  await one.done
  assert.deepEqual(one.told, ['acct_a'])
  const none = abort(() => Promise.reject(storageFault('NoSuchUpload')))
  await none.done
  assert.deepEqual(none.told, [undefined])
})

test('an abort whose upload cannot be looked up is no refusal', async () => {
  const away = abort(() => Promise.reject(fault('state_unavailable', 'Could not ask the state')))
  await assert.rejects(away.done, { code: 'state_unavailable' })
  assert.deepEqual(away.told, [])
})
