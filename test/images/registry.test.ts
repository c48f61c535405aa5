// Images of a real registry (Debian's docker-registry), and archives that skopeo writes.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createAddressRule } from '#egress/addresses.ts'
import { createCheckedConnections } from '#egress/connections.ts'
import { createResolve } from '#egress/resolve.ts'
import { openImage } from '#images/open-image.ts'
import { createImageStore, type ImageStore } from '#images/store.ts'
import { layerOf, writeLayout } from '#images/testing.ts'
import {
  noRegistry,
  openRegistryProxy,
  startRegistry,
  type Registry,
  type RegistryProxyHandler,
} from './docker-registry.ts'

const { signal } = new AbortController()

describe('images of a registry', { skip: noRegistry }, () => {
  const home = mkdtempSync(join(tmpdir(), 'ergon-registry-'))
  let server: Registry
  let registry = ''
  let digest = ''

  before(async () => {
    server = await startRegistry(home)
    registry = server.host
    const layers = [
      await layerOf([{ name: 'large', text: randomBytes(3_000_000).toString('base64') }]),
      await layerOf([{ name: 'app', text: 'hello' }]),
    ]
    digest = writeLayout(join(home, 'layout'), { layers, config: { Cmd: ['/app'] } })
    server.push(join(home, 'layout'), 'acme/api')
  })
  after(() => {
    server?.stop()
    rmSync(home, { recursive: true })
  })

  let stores = 0
  function newStore(networks: readonly string[] = ['127.0.0.0/8']): ImageStore {
    const folder = join(home, `store-${stores++}`)
    mkdirSync(folder)
    const rule = createAddressRule(networks)
    const connections = createCheckedConnections({ rule, resolve: createResolve() })
    const isPlain = (host: string) => host.startsWith('127.')
    const room = {
      reserve: async () => true,
      wrote: () => undefined,
      give: async () => undefined,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
    const open = openImage({ connections, isPlain, scratch: home, bytesMax: 1_000_000_000, room })
    return createImageStore({ folder, work: join(folder, 'pull'), open, room })
  }

  test('an image is pulled by its tag and by its digest', async () => {
    for (const name of [`${registry}/acme/api:v1`, `${registry}/acme/api:v1@${digest}`]) {
      const image = await newStore().pull(name, signal)
      assert.equal(image.digest, digest)
      assert.equal(readFileSync(join(image.root, 'app'), 'utf8'), 'hello')
      assert.deepEqual(image.config.command, ['/app'])
    }
  })

  test('a tag, a repository or a digest that is not there is image_not_found', async () => {
    const nobody = `sha256:${'0'.repeat(64)}`
    for (const name of ['acme/api:v2', 'acme/none:v1', `acme/api:v1@${nobody}`])
      await assert.rejects(newStore().pull(`${registry}/${name}`, signal), {
        code: 'image_not_found',
      })
  })

  test('an address that tenants may not name is never asked', async () => {
    await assert.rejects(newStore([]).pull(`${registry}/acme/api:v1`, signal), {
      code: 'registry_unreachable',
      message: /the address is not public: 127\.0\.0\.1/,
    })
  })

  const proxy = (handle: RegistryProxyHandler) => openRegistryProxy(registry, handle)

  test('a blob that breaks off goes on where it was', async () => {
    const ranges: string[] = []
    const at = await proxy((incoming, outgoing, pass) => {
      if (incoming.url?.includes('/blobs/') !== true) return pass()
      ranges.push(incoming.headers.range ?? '')
      request(
        `http://${registry}${incoming.url}`,
        { headers: { ...incoming.headers, host: registry } },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          let sent = 0
          answer.on('data', (chunk: Buffer) => {
            sent += chunk.length
            outgoing.write(chunk)
            if (sent > 1_000_000 && ranges.length < 4) outgoing.destroy()
          })
          answer.on('end', () => outgoing.end())
        },
      ).end()
    })
    const image = await newStore().pull(`${at}/acme/api:v1`, signal)
    assert.equal(image.digest, digest)
    assert.ok(
      ranges.some((range) => /^bytes=\d{6,}-$/.test(range)),
      ranges.join(),
    )
  })

  test('other bytes under a digest are refused', async () => {
    const at = await proxy((incoming, outgoing, pass) => {
      if (incoming.url?.includes('/manifests/') !== true) return pass()
      outgoing.end('{"schemaVersion":2,"manifests":[]}')
    })
    const named = newStore().pull(`${at}/acme/api:v1@${digest}`, signal)
    await assert.rejects(named, { code: 'image_damaged' })
    const longer = await proxy((incoming, outgoing, pass) => {
      if (incoming.url?.includes('/blobs/') !== true) return pass()
      outgoing.end(Buffer.alloc(100_000))
    })
    const damaged = newStore().pull(`${longer}/acme/api:v1`, signal)
    await assert.rejects(damaged, { code: 'image_damaged' })
  })

  test('a registry that asks for a token gets one, and the token goes nowhere else', async () => {
    const leaked: (string | undefined)[] = []
    const elsewhere = await proxy((incoming, _, pass) => {
      leaked.push(incoming.headers.authorization)
      pass()
    })
    const at = await proxy((incoming, outgoing, pass) => {
      const url = new URL(incoming.url ?? '', 'http://registry')
      if (url.pathname === '/token') {
        assert.equal(url.searchParams.get('scope'), 'repository:acme/api:pull')
        return void outgoing.end('{"token":"secret"}')
      }
      if (incoming.headers.authorization !== 'Bearer secret') {
        const challenge = `Bearer realm="http://${incoming.headers.host}/token",service="here"`
        return void outgoing.writeHead(401, { 'www-authenticate': challenge }).end()
      }
      if (!url.pathname.includes('/blobs/')) return pass()
      outgoing.writeHead(307, { location: `http://${elsewhere}${incoming.url}` }).end()
    })
    const image = await newStore().pull(`${at}/acme/api:v1`, signal)
    assert.equal(image.digest, digest)
    assert.ok(leaked.length > 0)
    assert.deepEqual([...new Set(leaked)], [undefined])
  })

  test('archives of skopeo are read: of docker save, and of a layout', async () => {
    for (const kind of ['docker-archive', 'oci-archive']) {
      const path = join(home, `${kind}.tar`)
      server.skopeo('copy', `oci:${home}/layout:v1`, `${kind}:${path}:api:v1`)
      const image = await newStore().pull(
        `${kind.replace('-archive', kind === 'oci-archive' ? '' : '-archive')}:${path}`,
        signal,
      )
      assert.equal(readFileSync(join(image.root, 'app'), 'utf8'), 'hello')
    }
  })
})
