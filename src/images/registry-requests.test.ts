// Registries that do not answer, in words that the account reads.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createCheckedConnections } from '#egress/connections.ts'
import { follow } from './registry-requests.ts'

const { signal } = new AbortController()

test('a registry whose name is not in the DNS, or at which nothing listens, is told without codes', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const unknown = Object.assign(new Error('queryA ENOTFOUND registry.example.com'), {
    code: 'ENOTFOUND',
  })
  const connections = createCheckedConnections({
    rule: { permits: () => true },
    resolve: (host) => (host === '127.0.0.1' ? Promise.resolve([host]) : Promise.reject(unknown)),
  })
  const options = { connections, isPlain: () => true }
  for (const [host, words] of [
    ['registry.example.com', 'the name is not in the DNS'],
    [`127.0.0.1:${port}`, 'nothing listens at the address'],
  ])
    await assert.rejects(follow(options, new URL(`http://${host}/v2/`), {}, signal), {
      code: 'registry_unreachable',
      message: `Could not pull the image: ${host}: ${words}`,
    })
})
