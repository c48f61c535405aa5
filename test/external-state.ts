// A PostgreSQL 16 that is not the product's own, reached over TCP: cells do not see the sockets of other
// programs. Stands for whatever DATABASE_URL names.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { cachedInstall, startTestServer, type TestServer } from '#postgres/testing.ts'

export type ExternalState = AsyncDisposable & { readonly url: string; readonly server: TestServer }

/** Starts a cluster of its own and a port on loopback that leads to it. */
export async function startExternalState(): Promise<ExternalState> {
  const server = await startTestServer(await cachedInstall())
  const door = createServer((client) => {
    const upstream = connect(server.socketPath)
    for (const side of [client, upstream])
      side.on('error', () => [client, upstream].forEach((each) => each.destroy()))
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const { user, password } = server.superuser
  const { port } = door.address() as AddressInfo
  return {
    server,
    url: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      door.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
