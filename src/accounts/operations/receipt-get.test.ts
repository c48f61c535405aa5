import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { newId } from '#base/ids.ts'
import type { OperationCall, KnownReply } from '#http/reply.ts'
import { createReceiptGet } from './receipt-get.ts'

test('strangers who ask for what is not there make few waits for the state, and the others one each', async () => {
  const released = Promise.withResolvers<void>()
  let waits = 0
  const get = createReceiptGet({
    receipts: { find: async () => ({ state: 'unknown' }) } as never,
    posted: () => {
      waits++
      return released.promise
    },
    clock: systemClock,
  })
  const ask = async (caller: object | undefined) => {
    const { signal } = new AbortController()
    const asked = {
      caller,
      parameters: { receipt: newId('rcpt', Date.now() - 60_000) },
      headers: {},
      signal,
    }
    try {
      return await get(asked as unknown as OperationCall)
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  let told = 0
  const strangers = Array.from({ length: 10 }, () => ask(undefined).finally(() => told++))
  await new Promise(setImmediate)
  assert.deepEqual([waits, told], [4, 6])
  const known = Array.from({ length: 10 }, () => ask({ account: 'acct_1' }))
  await new Promise(setImmediate)
  assert.equal(waits, 14)
  released.resolve()
  assert.deepEqual(new Set(await Promise.all(strangers)), new Set(['token_missing']))
  assert.deepEqual(new Set(await Promise.all(known)), new Set(['receipt_not_found']))
  await ask(undefined)
  assert.equal(waits, 15)
})

test('a receipt whose charge may not be posted yet is 202, and 404 when it is not there after that', async () => {
  const nowMs = Date.UTC(2026, 10, 23)
  const get = createReceiptGet({
    receipts: { find: async () => ({ state: 'unknown' }) } as never,
    posted: async () => undefined,
    clock: { ...systemClock, wallMs: () => nowMs },
  })
  const ask = (ageMs: number) => {
    const { signal } = new AbortController()
    const parameters = { receipt: newId('rcpt', nowMs - ageMs) }
    return get({
      caller: { account: 'a' },
      parameters,
      headers: {},
      signal,
    } as unknown as OperationCall)
  }
  for (const ageMs of [0, 2000, -500]) {
    const { status, headers } = (await ask(ageMs)) as KnownReply
    assert.deepEqual([status, headers?.['Retry-After']], [202, '1'])
  }
  for (const ageMs of [6000, 86_400_000])
    await assert.rejects(async () => await ask(ageMs), { code: 'receipt_not_found' })
})
