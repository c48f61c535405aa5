// A PostgreSQL 16 that is not the product's own, reached over TCP: cells do not see the sockets of other
// programs. Stands for whatever DATABASE_URL names.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, createServer, type AddressInfo } from 'node:net'
import { cachedInstall, startTestServer, type TestServer } from '#postgres/testing.ts'

export type ExternalState = AsyncDisposable & { readonly url: string; readonly server: TestServer }

/** Two gateways, a proxy of databases and all other processes may open 184: PLACES of src/node/state-cell.ts. */
const SETTINGS = { max_connections: '200' }

/** Starts a cluster of its own and a port on loopback that leads to it. */
export async function startExternalState(): Promise<ExternalState> {
  const server = await startTestServer(await cachedInstall(), SETTINGS)
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

const TLS_PORT = 5432

/**
 * The same with TLS and nothing else on TCP; the certificate, its own authority, is of the address. The path of the
 * certificate is given beside a URL without TLS parameters.
 */
export async function startTlsState(): Promise<ExternalState & { readonly certificate: string }> {
  const server = await startTestServer(await cachedInstall(), SETTINGS)
  await server.stop()
  const at = (name: string) => join(server.folder, name)
  // An address of its own: the port is a part of the name of the socket, which others know.
  const host = `127.0.0.${2 + Math.floor(Math.random() * 250)}`
  const certificate = at('server.crt')
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', at('server.key'), '-out', certificate, '-days', '2']
  const names = ['-subj', '/CN=ergon-test', '-addext', `subjectAltName=IP:${host}`]
  execFileSync('openssl', ['req', ...made, ...files, ...names], { stdio: 'pipe' })
  writeFileSync(
    at('hba.conf'),
    'local all all scram-sha-256\nhostssl all all 127.0.0.0/8 scram-sha-256\n',
  )
  for (const name of ['server.key', 'server.crt', 'hba.conf'])
    if (server.owner !== undefined) chownSync(at(name), server.owner.uid, server.owner.gid)
  const settings = {
    listen_addresses: host,
    port: TLS_PORT,
    ssl: 'on',
    ssl_cert_file: certificate,
    ssl_key_file: at('server.key'),
    hba_file: at('hba.conf'),
  }
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = server.spawn([...server.argv, ...words])
  await server.ready()
  const { user, password } = server.superuser
  return {
    server,
    certificate,
    url: `postgres://${user}:${encodeURIComponent(password)}@${host}:${TLS_PORT}/postgres`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      await ended
      await server[Symbol.asyncDispose]()
    },
  }
}
