import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { joinStreams } from './join-streams.ts'

const SILENCE_MS = 10_000
const server = createServer({ allowHalfOpen: true })
before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
after(() => server.close())

/** Both ends of a connection. */
async function pair(): Promise<readonly [Socket, Socket]> {
  const { port } = server.address() as AddressInfo
  const taken = once(server, 'connection') as Promise<[Socket]>
  const one = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [other] = await taken
  return [one, other]
}

/** A client and an instance whose connections are joined. */
async function joined(silenceMs = SILENCE_MS) {
  const [client, left] = await pair()
  const [right, instance] = await pair()
  return { client, instance, left, done: joinStreams(left, right, silenceMs) }
}

test('a side that has ended its half still gets all of the answer', async () => {
  const { client, instance, done } = await joined()
  client.end('question')
  assert.equal(await text(instance), 'question')
  instance.end('a'.repeat(1_000_000))
  assert.equal((await text(client)).length, 1_000_000)
  await done
})

test('a connection that is cut off ends the other', async () => {
  const { client, instance, left, done } = await joined()
  left.destroy()
  assert.equal(await text(instance), '')
  await done
  client.destroy()
  instance.destroy()
})

test('connections on which nothing is sent are ended', async () => {
  const { client, instance, done } = await joined(50)
  for (const end of [client, instance]) end.resume().on('error', () => undefined)
  await done
  client.destroy()
  instance.destroy()
})
