// Pages and files of the portal, from a real build of the console: types, caches, compressed forms, and paths that lead out.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { sendRaw } from '../raw-http.ts'
import { newClient } from './client.ts'

const ROOT = join(import.meta.dirname, '../..')

product(PLAIN)
before(() => promisify(execFile)(process.execPath, [join(ROOT, 'portal', 'build.ts')]))

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  newClient(sharedErgon()).ask(method, path, undefined, { headers })

/** An asset that the console's page names. */
async function anAsset(): Promise<string> {
  const { text } = await get('/usage')
  return /"(\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? assert.fail(text)
}

test('a path without a dot, or of the storage, is the console, and is asked for again each time', async () => {
  for (const path of ['/', '/usage', '/ledger/rcpt_1', '/sign-up', '/storage/a.b/c/page.html']) {
    const { status, headers, text } = await get(path)
    assert.equal(status, 200, path)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-cache')
    assert.match(text, /<!doctype html>/)
    assert.match(String(headers['content-security-policy']), /default-src 'none'/)
  }
})

test('an asset is kept for good, in the form that the browser takes', async () => {
  const path = await anAsset()
  assert.equal((await get('/')).headers.vary, 'Accept-Encoding, Cookie')
  const plain = await get(path)
  assert.match(String(plain.headers['cache-control']), /immutable/)
  assert.match(String(plain.headers['content-type']), /^text\/javascript/)
  const known = await get(path, { 'if-none-match': String(plain.headers.etag) })
  assert.deepEqual([known.status, known.text], [304, ''])
  for (const [accepted, encoding, unpack] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, br;q=0', 'gzip', gunzipSync],
  ] as const) {
    const packed = await get(path, { 'accept-encoding': accepted })
    assert.equal(packed.headers['content-encoding'], encoding)
    assert.equal(packed.headers.vary, 'Accept-Encoding')
    assert.equal(unpack(packed.bytes).toString(), plain.text)
  }
})

test('a path that is no file of the build is not found, and none leads out of it', async () => {
  for (const path of [
    '/nowhere.js',
    '/.built',
    '/index.html.br',
    '/package.json',
    '/..%2f..%2fpackage.json',
  ])
    assert.equal((await get(path)).status, 404, path)
  const { port } = sharedErgon()
  const host = new URL(newClient(sharedErgon()).origin).host
  const { responses } = await sendRaw(
    port + 1,
    `GET /../../package.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  )
  assert.equal(responses[0]?.status, 404)
})

test('pages are read, and nothing else', async () => {
  const { status, headers } = await get('/usage', {}, 'POST')
  assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'])
  const head = await get('/usage', {}, 'HEAD')
  assert.deepEqual([head.status, head.text], [200, ''])
})
