// Both ends of a connection on loopback, for tests.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** The end that connected, and the end that was accepted; both are closed with the test. */
export async function socketPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const near = connect(port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  server.close()
  for (const socket of [near, far]) socket.on('error', () => undefined)
  t.after(() => [near, far].forEach((socket) => socket.destroy()))
  return [near, far]
}
