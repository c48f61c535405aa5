import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { createReady } from './service-ready.ts'

test('readiness is refused for the reason that the gateway gives', async () => {
  const why = fault('storage_full', 'Not ready: the disk is full')
  const ask = async (reason: typeof why | undefined) =>
    (await createReady(() => reason)({} as never)).status
  assert.equal(await ask(undefined), 200)
  await assert.rejects(ask(why), { code: 'storage_full', status: 507 })
})
