// Pebble, the test authority of Let's Encrypt, as Debian packages it, and a server of names: each leads to 127.0.0.1.
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import type { AcmeSettings } from './acme-settings.ts'

const WAIT_MS = 20_000

export type Pebble = {
  readonly settings: AcmeSettings & { readonly roots: string }
  /** The file of the roots. */
  readonly rootsFile: string
  /** It asks the names of orders there. */
  readonly httpPort: number
  close(): void
}

/** Why tests with it are left out; false where it is installed. */
export const withoutPebble =
  ['pebble', 'pebble-challtestsrv'].some((program) => spawnSync('which', [program]).status !== 0) &&
  'pebble is not installed: apt-get install pebble'

/** Resolves when it answers. It refuses orders for names of `blocked`. */
export async function startPebble(blocked: readonly string[] = []): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-pebble-'))
  const pair = testCertificate('localhost')
  const at = (name: string) => join(folder, name)
  writeFileSync(at('cert.pem'), pair.cert)
  writeFileSync(at('key.pem'), pair.key)
  const [port = 0, dnsPort = 0, httpPort = 0, managementPort = 0] = await freePorts(4)
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: at('cert.pem'),
    privateKey: at('key.pem'),
    httpPort,
    tlsPort: 1,
    domainBlocklist: blocked,
  }
  writeFileSync(at('pebble.json'), JSON.stringify({ pebble }))
  const dns = `127.0.0.1:${dnsPort}`
  const off = ['http01', 'https01', 'tlsalpn01', 'management'].flatMap((name) => [`-${name}`, ''])
  const children = [
    run('pebble-challtestsrv', ['-dns01', dns, '-defaultIPv6', '', ...off]),
    run('pebble', ['-config', at('pebble.json'), '-dnsserver', dns, '-strict']),
  ]
  await answering(port)
  return {
    settings: {
      directory: `https://localhost:${port}/dir`,
      email: 'operator@example.test',
      roots: pair.cert,
    },
    rootsFile: at('cert.pem'),
    httpPort,
    close() {
      for (const child of children) child.kill()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Without the random waits before it asks; a tenth of all nonces are refused. */
const run = (program: string, words: readonly string[]): ChildProcess =>
  spawn(program, words, {
    stdio: 'ignore',
    env: { PATH: '/usr/bin', PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '10' },
  })

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

async function answering(port: number): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    assert.ok(performance.now() < lastMs, 'pebble does not answer')
    await pause(50)
  }
}
