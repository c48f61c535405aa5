import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'

import { type PullOptions, pullUrl } from './pull.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-pull-'))
after(() => rmSync(root, { recursive: true }))

const file = randomBytes(400_000)
const sha256 = createHash('sha256').update(file).digest('hex')

const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout ${root}/key -out ${root}/cert`
const made = spawnSync('openssl', request.split(' '), { stdio: 'ignore' })
const skip = made.status === 0 ? false : 'openssl, to make a certificate with, is missing'

/** Serves with ranges; `answer` may do otherwise by returning true. */
async function serve(answer: (...call: Parameters<RequestListener>) => boolean = () => false) {
  const tls = { key: readFileSync(join(root, 'key')), cert: readFileSync(join(root, 'cert')) }
  const ranges: (string | undefined)[] = []
  const server = createServer(tls, (incoming, reply) => {
    ranges.push(incoming.headers.range)
    if (answer(incoming, reply)) return
    const from = Number(/^bytes=(\d+)-$/.exec(incoming.headers.range ?? '')?.[1] ?? 0)
    const range = { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }
    reply.writeHead(from > 0 ? 206 : 200, { 'content-length': file.length - from, ...range })
    reply.end(file.subarray(from))
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const folder = mkdtempSync(join(root, 'data-'))
  const pull = (more: Partial<PullOptions> = {}) =>
    pullUrl({
      url: `https://localhost:${port}/models/small.gguf`,
      sha256,
      folder,
      ca: tls.cert,
      signal: AbortSignal.timeout(30_000),
      ...more,
    })
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { pull, port, folder, ranges, [Symbol.asyncDispose]: close }
}

test('pullUrl() keeps the file under its hash and asks once', { skip }, async () => {
  await using server = await serve()
  let done = 0
  const path = await server.pull({ progress: (doneBytes) => (done = doneBytes) })
  assert.equal(path, join(server.folder, sha256, 'small.gguf'))
  assert.ok(readFileSync(path).equals(file))
  assert.equal(done, file.length)
  assert.equal(await server.pull(), path)
  assert.equal(server.ranges.length, 1)
})

test('pullUrl() writes nowhere but under the hash', { skip }, async () => {
  await using server = await serve()
  const url = `https://localhost:${server.port}/models/..%2f..%2f..%2fsmall.gguf`
  assert.equal(await server.pull({ url }), join(server.folder, sha256, 'small.gguf'))
  const parent = `https://localhost:${server.port}/models/x%2f..`
  assert.equal(await server.pull({ url: parent }), join(server.folder, sha256, 'file'))
})

test('pullUrl() goes on where a broken connection left it', { skip }, async () => {
  await using server = await serve((incoming, reply) => {
    if (incoming.headers.range !== undefined) return false
    reply.writeHead(200, { 'content-length': file.length })
    reply.write(file.subarray(0, 150_000), () => setTimeout(() => reply.destroy(), 50))
    return true
  })
  await assert.rejects(server.pull(), { code: 'artifact_unreachable' })
  const part = statSync(join(server.folder, sha256, '.part')).size
  assert.ok(part > 0 && part <= 150_000)
  assert.ok(readFileSync(await server.pull()).equals(file))
  assert.deepEqual(server.ranges, [undefined, `bytes=${part}-`])
})

test('pullUrl() starts anew where ranges are not honoured', { skip }, async () => {
  let broken = false
  await using server = await serve((_, reply) => {
    reply.writeHead(200, { 'content-length': file.length })
    if (broken) reply.end(file)
    else reply.write(file.subarray(0, 1000), () => setTimeout(() => reply.destroy(), 50))
    broken = true
    return true
  })
  await assert.rejects(server.pull(), { code: 'artifact_unreachable' })
  assert.ok(readFileSync(await server.pull()).equals(file))
})

test('pullUrl() keeps nothing of a file with other bytes', { skip }, async () => {
  await using server = await serve()
  const other = '0'.repeat(64)
  await assert.rejects(server.pull({ sha256: other }), { code: 'artifact_mismatch' })
  assert.deepEqual(readdirSync(join(server.folder, other)), ['.lock'])
})

test('pullUrl() follows redirects to https only, and not for ever', { skip }, async () => {
  const to = (location: string) =>
    serve((incoming, reply) => {
      if (!incoming.url?.startsWith('/models')) return false
      reply.writeHead(302, { location }).end()
      return true
    })
  await using good = await to('/elsewhere')
  assert.ok(readFileSync(await good.pull()).equals(file))
  await using loop = await to('/models/again')
  await assert.rejects(loop.pull(), { message: /More than 5 redirects/ })
  await using plain = await to('http://localhost/x')
  await assert.rejects(plain.pull(), { message: /Only https addresses/ })
})

test(
  'pullUrl() refuses errors, too large files, strange certificates and closed ports',
  { skip },
  async () => {
    await using gone = await serve((_, reply) => {
      reply.writeHead(404).end()
      return true
    })
    await assert.rejects(gone.pull(), { message: /answered 404/ })
    await using server = await serve()
    await assert.rejects(server.pull({ sizeMaxBytes: 1000 }), { code: 'artifact_mismatch' })
    await assert.rejects(server.pull({ ca: [] }), { message: /certificate/ })
    const closed = 'https://localhost:9/x'
    await assert.rejects(server.pull({ url: closed }), { code: 'artifact_unreachable' })
    const aborted = AbortSignal.abort()
    await assert.rejects(server.pull({ signal: aborted }), { code: 'artifact_interrupted' })
  },
)
