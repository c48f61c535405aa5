import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { postedHeaders, postedKey, readPostForm, withinLength } from './post-form.ts'

const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status

/** The body that a browser would send, cut into pieces of the given size. */
async function encode(parts: [name: string, value: string | Blob, file?: string][], size = 64) {
  const data = new FormData()
  for (const [name, value, file] of parts)
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, value, file)
  const sent = new Request('http://localhost', { method: 'POST', body: data })
  const bytes = Buffer.from(await sent.arrayBuffer())
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return { headers, bytes, pieces: piecesOf(bytes, size) }
}

const piecesOf = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
const read = (headers: object, pieces: Buffer[], signal = new AbortController().signal) =>
  readPostForm({ ...headers }, Readable.from(pieces, { objectMode: false }), signal)

test('readPostForm() gives every field, then every byte of the file, however they are cut', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/).filter((one) => one !== 'file')
  const value = fc
    .string({ unit: 'grapheme', maxLength: 100 })
    .filter((one) => one.isWellFormed() && !/[\r\n]/.test(one))
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, value, { maxKeys: 8 }),
      fc.uint8Array({ maxLength: 5000 }),
      fc.integer({ min: 1, max: 700 }),
      async (fields, bytes, size) => {
        const { headers, pieces } = await encode(
          [...Object.entries(fields), ['file', new Blob([bytes]), 'a.bin'], ['late', 'x']],
          size,
        )
        const form = await read(headers, pieces)
        assert.deepEqual(new Map(form.fields), new Map(Object.entries(fields)))
        assert.deepEqual(await buffer(form.file.stream), Buffer.from(bytes))
        assert.equal(form.file.name, 'a.bin')
      },
    ),
    { numRuns: 40 },
  )
})

test('readPostForm() takes fields with file names, and names in any case', async () => {
  const { headers, pieces } = await encode([
    ['kEy', new Blob(['up/${filename}']), 'key'],
    ['FILE', new Blob(['bar'], { type: 'text/plain' }), 'photo.txt'],
  ])
  const form = await read(headers, pieces)
  assert.equal(postedKey(form), 'up/photo.txt')
  assert.equal(form.file.contentType, 'text/plain')
  assert.equal((await buffer(form.file.stream)).toString(), 'bar')
})

test('readPostForm() refuses forms that are none, without a file, or too long before it', async () => {
  const file: [string, Blob] = ['file', new Blob(['x'])]
  const rows: [parts: Parameters<typeof encode>[0], code: string][] = [
    [[['key', 'a']], 'InvalidArgument'],
    [[['key', 'a'], ['KEY', 'b'], file], 'InvalidArgument'],
    [[['key', 'a'.repeat(20_500)], file], 'MaxPostPreDataLengthExceededError'],
    [
      [...Array.from({ length: 101 }, (_, at): [string, string] => [`f${at}`, '']), file],
      'MaxPostPreDataLengthExceededError',
    ],
  ]
  for (const [parts, code] of rows) {
    const { headers, pieces } = await encode(parts, 4096)
    await assert.rejects(read(headers, pieces), refused(code))
  }
  for (const type of ['text/plain', 'multipart/form-data', 'multipart/form-data; boundary='])
    await assert.rejects(read({ 'content-type': type }, []), refused('MalformedPOSTRequest'), type)
  const { headers, bytes } = await encode([['key', 'a']])
  await assert.rejects(
    read(headers, piecesOf(bytes.subarray(0, 60), 16)),
    refused('MalformedPOSTRequest'),
  )
})

test('the file fails when the body ends within it', async () => {
  const { headers, bytes } = await encode([['file', new Blob(['x'.repeat(10_000)])]])
  const { file } = await read(headers, piecesOf(bytes.subarray(0, 5000), 512))
  await assert.rejects(buffer(file.stream), refused('MalformedPOSTRequest'))
})

test('form and file fail with the reason of the signal', async () => {
  const { headers, pieces } = await encode([['file', new Blob(['x'.repeat(500_000)])]], 4096)
  const gone = new AbortController()
  const { file } = await read(headers, pieces, gone.signal)
  gone.abort(new TypeError('enough'))
  await assert.rejects(buffer(file.stream), TypeError)
  await assert.rejects(read(headers, pieces, gone.signal), TypeError)
})

test('a client that goes away within the file fails it, over a real connection', async () => {
  const { headers, bytes } = await encode([['file', new Blob(['x'.repeat(100_000)])]])
  const told = Promise.withResolvers<unknown>()
  const server = createServer(async (request) => {
    const { file } = await readPostForm(request.headers, request, new AbortController().signal)
    await buffer(file.stream).then(told.resolve, told.reject)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = httpRequest({
    port,
    method: 'POST',
    headers: { ...headers, 'content-length': bytes.length },
  })
  client.on('error', () => undefined)
  client.write(bytes.subarray(0, 20_000), () => client.destroy())
  await assert.rejects(told.promise, refused('IncompleteBody'))
  server.close()
})

test(
  'a reader that stops within the file can still drain the request',
  { timeout: 30_000 },
  async () => {
    const { headers, bytes } = await encode([['file', new Blob(['x'.repeat(500_000)])]])
    const server = createServer(async (request, response) => {
      // As the protocol does: a reader that leaves the body early must not end the connection.
      const body = Readable.from(request.iterator({ destroyOnReturn: false }))
      const { file } = await readPostForm(request.headers, body, new AbortController().signal)
      file.stream.destroy()
      request.on('data', () => undefined)
      await once(request, 'end')
      response.end('drained')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: bytes })
    assert.equal(await answer.text(), 'drained')
    server.closeAllConnections()
    server.close()
  },
)

const TAGGING = '<Tagging><TagSet><Tag><Key>a b</Key><Value>+é</Value></Tag></TagSet></Tagging>'

test('postedHeaders() leaves out what is of the form', () => {
  const fields = new Map([
    ['key', 'k'],
    ['policy', 'p'],
    ['x-amz-signature', 's'],
    ['x-ignore-me', 'x'],
    ['x-amz-copy-source', 'from/open'],
    ['if-none-match', '*'],
    ['referer', 'https://shop.example/'],
    ['user-agent', 'Browser/1'],
    ['success_action_status', '201'],
    ['acl', 'private'],
    ['tagging', TAGGING],
    ['content-type', 'text/plain'],
    ['content-encoding', 'gzip'],
    ['content-disposition', 'inline'],
    ['content-language', 'en'],
    ['cache-control', 'no-store'],
    ['expires', '0'],
    ['x-amz-meta-name', 'é'],
    ['x-amz-server-side-encryption', 'AES256'],
  ])
  assert.deepEqual(postedHeaders(fields), {
    'x-amz-acl': 'private',
    'x-amz-tagging': 'a+b=%2B%C3%A9',
    'content-type': 'text/plain',
    'content-encoding': 'gzip',
    'content-disposition': 'inline',
    'content-language': 'en',
    'cache-control': 'no-store',
    expires: '0',
    'x-amz-meta-name': 'Ã©',
    'x-amz-server-side-encryption': 'AES256',
  })
})

test('withinLength() holds the file to its range', async () => {
  const run = (bytes: number, min: number, max: number) =>
    buffer(withinLength(Readable.from([Buffer.alloc(bytes)]), { min, max }))
  assert.equal((await run(5, 5, 5)).length, 5)
  await assert.rejects(run(5, 0, 4), refused('EntityTooLarge'))
  await assert.rejects(run(5, 6, 9), refused('EntityTooSmall'))
})
