// The server of the status page against hostile clients, on a real socket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { replaceFile } from './files.ts'
import { statusHeaders, serveStatus, type StatusServer } from './server.ts'

const STYLE = 'p{color:red}'
let folder: string
let server: StatusServer
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-status-'))
  writeFileSync(join(folder, 'known.json'), 'secret')
  server = await serveStatus({
    folder,
    host: '127.0.0.1',
    port: 0,
    headers: statusHeaders(STYLE),
  })
})
after(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})
const ask = (path: string, init?: RequestInit) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init)

/** The answer to bytes as they are. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(bytes)
  return await text(socket)
}

test('a page that is not written yet is 503, and then 200 with its headers', async () => {
  assert.equal((await ask('/')).status, 503)
  replaceFile(folder, 'index.html', '<p>page</p>')
  const answer = await ask('/?query=is&not=read')
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), '<p>page</p>')
  const { headers } = answer
  assert.match(
    headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='/,
  )
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(headers.get('set-cookie'), null)
  const again = await ask('/', { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  assert.equal(again.status, 304)
})

test('the next answer has the new file, HEAD has no body, other methods are refused', async () => {
  replaceFile(folder, 'index.html', '<p>newer</p>')
  assert.equal(await (await ask('/')).text(), '<p>newer</p>')
  const head = await ask('/', { method: 'HEAD' })
  assert.deepEqual([head.headers.get('content-length'), await head.text()], ['12', ''])
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    assert.deepEqual(
      [(await ask('/', { method })).status, (await ask('/', { method })).headers.get('allow')],
      [405, 'GET, HEAD'],
    )
})

test('no path leads to another file', async () => {
  const paths = [
    '/known.json',
    '/../known.json',
    '/%2e%2e/known.json',
    '/index.html',
    '//',
    '/./',
    '/toString',
    '/__proto__',
    '/\\known.json',
    '/status.json/../known.json',
    '/%00',
  ]
  for (const path of paths) {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 404 /, path)
    assert.ok(!answer.includes('secret'))
  }
  assert.match(
    await raw(
      'GET http://evil.example/known.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    ),
    /^HTTP\/1\.1 404 /,
  )
})

test('no header of a request is in an answer: a cache cannot be poisoned', async () => {
  const headers =
    'host: evil.example\r\nx-forwarded-host: evil.example\r\nx-original-url: /evil\r\ncookie: evil=1\r\nconnection: close\r\n'
  const answer = await raw(`GET / HTTP/1.1\r\n${headers}\r\n`)
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.ok(!answer.includes('evil'))
})

test('large headers, many headers, smuggled bodies and broken requests are refused', async () => {
  const large = await raw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(9000)}\r\n\r\n`)
  assert.match(large, /^HTTP\/1\.1 431 /)
  const both = await raw(
    'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  )
  assert.match(both, /^HTTP\/1\.1 400 /)
  assert.match(await raw('NONSENSE\r\n\r\n'), /^HTTP\/1\.1 400 /)
  const body = await raw('GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nGET /')
  assert.equal(body.split('HTTP/1.1 ').length, 2, 'a body is no second request')
})

test(
  'a request that never ends is cut, and one address does not hold all connections',
  { timeout: 20_000 },
  async () => {
    const slow = connect(server.port, '127.0.0.1')
    slow.on('error', () => undefined)
    slow.write('GET / HTTP/1.1\r\nhost: x\r\nx: ')
    const ended = text(slow)
    const many = Array.from({ length: 210 }, () =>
      connect(server.port, '127.0.0.1').on('error', () => undefined),
    )
    await Promise.race([once(many[209] ?? slow, 'close'), ended])
    assert.ok(many.filter(({ destroyed }) => destroyed).length >= 10)
    for (const one of many) one.destroy()
    assert.match(await ended, /^HTTP\/1\.1 408 /)
    assert.equal((await ask('/')).status, 200)
  },
)
