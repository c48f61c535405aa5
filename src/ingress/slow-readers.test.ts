// Answers in many small pieces.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createServer } from '#base/node-http.ts'
import { answerRequest } from './answer.ts'
import { openInstance } from './instance.fixture.ts'

const CHUNKS = 200_000

test('pieces that come together go out together, and the client is waited for once', async (t) => {
  const { deps } = await openInstance(t, (_request, { socket }) => {
    const chunks = '1\r\nx\r\n'.repeat(CHUNKS)
    socket?.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
  })
  let writes = 0
  let waitsMost = 0
  const server = createServer((request, response) => {
    const write = response.write.bind(response)
    response.write = (chunk: unknown) => {
      writes++
      waitsMost = Math.max(waitsMost, response.listenerCount('drain'))
      return write(chunk)
    }
    void answerRequest(request, response, deps)
  })
  await once(server.listen(0, 'localhost'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const [answer] = (await once(get({ port, agent: false }), 'response')) as [IncomingMessage]
  let length = 0
  for await (const chunk of answer) length += (chunk as Buffer).length
  assert.equal(length, CHUNKS)
  assert.ok(writes < CHUNKS / 100, `${writes} writes`)
  assert.ok(waitsMost <= 1, `${waitsMost} wait`)
})
