import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'
import type { Handler } from './reply.ts'
import { startTestHttp } from './test-server.fixture.ts'

const known: Handler = async () => ({ kind: 'known', status: 200, body: () => '{}' })
const refused: Handler = async () => {
  throw fault('not_found', 'Could not find it: it is not there')
}
const streamed: Handler = async () => ({
  kind: 'streamed',
  status: 200,
  contentType: 'text/event-stream',
  chunks: Readable.from(['data: one\n\n']),
  last: () => 'data: [DONE]\n\n',
  cut: () => '',
})

// A reply that did not wait would be there long before this is over.
const HELD_MS = 60

for (const [name, handler] of Object.entries({ known, refused, streamed }))
  test(`with journal=sync the end of a ${name} reply waits until its charge survives a power cut`, async () => {
    const started = Promise.withResolvers<void>()
    const disk = Promise.withResolvers<void>()
    const synced = () => {
      started.resolve()
      return disk.promise
    }
    await using http = await startTestHttp({ '/it': handler }, { charging: { synced, sync: true } })
    const url = `http://127.0.0.1:${http.port}/it`
    const answered = fetch(url).then(async (reply) => {
      await reply.text()
      return { reply, durable: http.gateway.durable().toString('latin1') }
    })
    await started.promise
    await sleep(HELD_MS)
    disk.resolve()
    const { reply, durable } = await answered
    const receipt = reply.headers.get('x-receipt-id')
    assert.match(receipt ?? '', /^rcpt_/)
    assert.ok(durable.includes(`"id":"${receipt}"`), 'a power cut now would lose the charge')
  })

test('without journal=sync a reply does not wait for the disk', async () => {
  const disk = Promise.withResolvers<void>()
  const synced = () => disk.promise
  await using http = await startTestHttp({ '/it': known }, { charging: { synced } })
  const reply = await fetch(`http://127.0.0.1:${http.port}/it`)
  const receipt = reply.headers.get('x-receipt-id')
  assert.ok(!http.gateway.durable().includes(`"id":"${receipt}"`))
  disk.resolve()
})

test('with journal=sync an error of the disk lets no figures out', async () => {
  const synced = async () => {
    throw Object.assign(new TypeError('EIO'), { code: 'EIO' })
  }
  const failures: unknown[] = []
  await using http = await startTestHttp(
    { '/it': known },
    { charging: { synced, sync: true, failed: (error) => failures.push(error) } },
  )
  await assert.rejects(fetch(`http://127.0.0.1:${http.port}/it`))
  assert.equal(failures.length, 1)
})
