import assert from 'node:assert/strict'
import { test } from 'node:test'
import { S3Client } from '@aws-sdk/client-s3'
import type { TransferSession } from './session.ts'
import { createTally } from './tally.ts'
import { CONCURRENCY, runTransfers, type Transfer } from './transfers.ts'

function session(): TransferSession {
  const stopping = new AbortController()
  const stop = (reason: unknown) => stopping.abort(reason)
  return { s3: new S3Client(), tally: createTally(), signal: stopping.signal, stop }
}

test('runTransfers() runs four at a time and adds up what moved', async () => {
  let running = 0
  let most = 0
  const one: Transfer = {
    bytes: 2,
    run: async ({ moved }) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      moved(2)
    },
  }
  assert.equal(
    await runTransfers(
      session(),
      Array.from({ length: 11 }, () => one),
    ),
    22,
  )
  assert.equal(most, CONCURRENCY)
})

test('runTransfers() throws the first failure when all that ran have cleaned up', async () => {
  const events: string[] = []
  const shared = session()
  const failing: Transfer = { bytes: 0, run: () => Promise.reject(new RangeError('first')) }
  const aborted: Transfer = {
    bytes: 0,
    run: async () => {
      await new Promise((resolve) => shared.signal.addEventListener('abort', resolve))
      events.push('cleaned up')
      throw new RangeError('second')
    },
  }
  const late: Transfer = { bytes: 0, run: async () => void events.push('begun') }
  const all = [aborted, aborted, aborted, failing, late]
  await assert.rejects(runTransfers(shared, all), /first/)
  assert.deepEqual(events, ['cleaned up', 'cleaned up', 'cleaned up'])
})
