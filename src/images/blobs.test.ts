// Blobs of a registry whose connections break off.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createServer } from '#base/node-http.ts'
import { fetchBlob } from './blobs.ts'

test('a registry that resets again and again is the reason why an image is not pulled', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-blobs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  let asked = 0
  const server = createServer((_request, response) => {
    asked++
    response.writeHead(200, { 'content-length': 1000 })
    response.write('begin')
    setTimeout(() => response.socket?.resetAndDestroy(), 50)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const source = {
    isLocal: false,
    root: () => Promise.reject(new TypeError('not asked for')),
    async blob() {
      const asking = get({ port, agent: false }).on('error', () => undefined)
      const [bytes] = (await once(asking, 'response')) as [IncomingMessage]
      return { from: 0, bytes }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const digest = `sha256:${'0'.repeat(64)}`
  const blob = { mediaType: 'application/octet-stream', digest, size: 1000 }
  await assert.rejects(
    fetchBlob(folder, source, blob, { signal: t.signal, retryMs: 1 }),
    (error: Error & { code?: string }) =>
      error.code === 'registry_unreachable' && /a blob broke off: /.test(error.message),
  )
  assert.equal(asked, 5)
})
