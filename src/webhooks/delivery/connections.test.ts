// Which addresses a connection tries, for how long, and where it may land.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createAddressRule } from '#egress/addresses.ts'
import { createCheckedConnections } from '#egress/connections.ts'
import { createDeliverySender } from './send.ts'
import type { EndpointTarget } from './target.ts'

const LIMIT_MS = 300

async function listen(t: TestContext, connected: (socket: Socket) => void): Promise<number> {
  const server = createServer(connected).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** An attempt at a name that has these addresses. */
async function attempt(
  t: TestContext,
  {
    addresses,
    networks,
    ...target
  }: Pick<EndpointTarget, 'port' | 'isSecure'> & {
    readonly addresses: readonly string[]
    readonly networks: readonly string[]
  },
) {
  const rule = createAddressRule(networks)
  const connections = createCheckedConnections({ rule, resolve: async () => addresses })
  const sender = createDeliverySender(connections)
  t.after(() => sender.close())
  const hostname = 'hooks.example.com'
  return await sender.send({
    target: { ...target, hostname, path: '/', host: hostname },
    headers: {},
    body: Buffer.from('{}'),
    mark: () => undefined,
    limitMs: LIMIT_MS,
  })
}

test('a socket that lands elsewhere than at a permitted address gets no byte', async (t) => {
  let bytes = 0
  const port = await listen(t, (socket) => socket.on('data', (some) => (bytes += some.length)))
  // The kernel connects 0.0.0.0 to 127.0.0.1.
  const { error } = await attempt(t, {
    addresses: ['0.0.0.0'],
    networks: ['0.0.0.0/32'],
    port,
    isSecure: false,
  })
  assert.equal(error, 'the address is not public: 127.0.0.1')
  assert.equal(bytes, 0)
})

test('four addresses of a name with many are tried', async (t) => {
  const port = await listen(t, (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  )
  const statusOf = async (closed: number) => {
    const addresses = Array.from({ length: closed }, (_, nth) => `127.0.0.${nth + 2}`)
    const networks = ['127.0.0.0/8']
    return await attempt(t, {
      addresses: [...addresses, '127.0.0.1'],
      networks,
      port,
      isSecure: false,
    })
  }
  assert.equal((await statusOf(3)).status, 200)
  assert.equal((await statusOf(4)).error, 'nothing listens at the address')
})

test('a connection that is being opened ends with its attempt', async (t) => {
  const closed = Promise.withResolvers<number>()
  const port = await listen(t, (socket) => {
    const beganMs = performance.now()
    socket.on('error', () => undefined)
    socket.on('close', () => closed.resolve(performance.now() - beganMs))
    socket.resume()
  })
  await attempt(t, { addresses: ['127.0.0.1'], networks: ['127.0.0.1'], port, isSecure: true })
  assert.ok((await closed.promise) < 3000, 'it waited for its own limit')
})

test('a kept connection that its endpoint closed costs no attempt', async (t) => {
  let connections = 0
  const port = await listen(t, (socket) => {
    connections++
    let requests = 0
    socket.on('error', () => undefined)
    socket.on('data', () => {
      // The second request of a connection meets its end.
      if (++requests > 1) return socket.destroy()
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const networks = ['127.0.0.1']
  const rule = createAddressRule(networks)
  const sender = createDeliverySender(
    createCheckedConnections({ rule, resolve: async () => networks }),
  )
  t.after(() => sender.close())
  const hostname = 'hooks.example.com'
  const send = () =>
    sender.send({
      target: { hostname, port, path: '/', host: hostname, isSecure: false },
      headers: {},
      body: Buffer.from('{}'),
      mark: () => undefined,
    })
  assert.equal((await send()).status, 200)
  assert.deepEqual([(await send()).status, connections], [200, 2])
})
