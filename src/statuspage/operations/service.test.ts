import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReady } from './service.ts'

test('readiness says why there is none: the disk, the blobs, the state', async () => {
  const facts = { fresh: () => true, isDiskFull: () => false, fenced: () => undefined }
  const ask = async (other: Partial<Parameters<typeof createReady>[0]>) =>
    (await createReady({ ...facts, ...other })({} as never)).status
  assert.equal(await ask({}), 200)
  await assert.rejects(ask({ isDiskFull: () => true }), { code: 'storage_full', status: 507 })
  await assert.rejects(ask({ fresh: () => false }), { code: 'state_unavailable', status: 503 })
  await assert.rejects(ask({ fenced: () => 'EIO' }), {
    code: 'storage_fenced',
    status: 503,
    message: 'Not ready: objects are read only since a disk error: EIO',
  })
})
