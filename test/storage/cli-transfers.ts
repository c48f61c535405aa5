// What `ergon storage cp` does with single objects: their type, and what a signal leaves of them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { sharedErgon } from '../parts.ts'
import { s3ClientOf } from '../s3-client.ts'
import { createCli, MIB } from './cli-runs.ts'

const BUCKET = 'storage-cli-transfers'
const cli = createCli()
const { at, run, done } = cli
let s3: S3Client
before(async () => {
  s3 = s3ClientOf(sharedErgon())
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }))
})
after(() => {
  s3.destroy()
  cli.close()
})

const headOf = (Key: string) => s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key }))
const typeOf = async (key: string) => (await headOf(key)).ContentType

test('what goes up is said to be what its name ends in, or what --content-type says', async () => {
  mkdirSync(at('site/img'), { recursive: true })
  for (const name of ['index.html', 'img/photo.JPG', 'README']) writeFileSync(at('site', name), 'x')
  writeFileSync(at('large.css'), Buffer.alloc(9 * MIB))
  await done('cp', '--recursive', at('site'), `s3://${BUCKET}/site`)
  await done('cp', at('large.css'), `s3://${BUCKET}/large`)
  const piped = await run(['cp', '-', `s3://${BUCKET}/piped.json`], { input: Buffer.from('{}') })
  assert.equal(piped.code, 0, piped.stderr)
  const latin = 'text/html; charset=iso-8859-1'
  await done('cp', at('site/index.html'), `s3://${BUCKET}/latin.html`, '--content-type', latin)
  const types: Record<string, string> = {
    'site/index.html': 'text/html',
    'site/img/photo.JPG': 'image/jpeg',
    'site/README': 'application/octet-stream',
    large: 'text/css',
    'piped.json': 'application/json',
    'latin.html': latin,
  }
  for (const [key, type] of Object.entries(types)) assert.equal(await typeOf(key), type, key)
  for (const words of [
    [at('large.css'), `s3://${BUCKET}/no`, '--content-type', 'html'],
    [`s3://${BUCKET}/large`, at('no'), '--content-type', 'text/css'],
  ])
    assert.equal((await run(['cp', ...words])).code, 2)
})

const uploadsOf = async (Prefix: string): Promise<number> => {
  const asked = new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix })
  return (await s3.send(asked)).Uploads?.length ?? 0
}

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 600; !(await isSo()); tries--) {
    assert.ok(tries > 0, what)
    await pause(100)
  }
}

const ENDS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

for (const [signal, code] of Object.entries(ENDS) as [keyof typeof ENDS, number][])
  test(`${signal} removes the parts of an unfinished upload, and ends with ${code}`, async () => {
    const child = cli.spawn(['cp', '-', `s3://${BUCKET}/${signal}`])
    const exited = once(child, 'exit')
    // The program lets go of its input before all of it was read.
    child.stdin.on('error', (error: Error & { code?: string }) => assert.equal(error.code, 'EPIPE'))
    child.stdin.write(randomBytes(17 * MIB))
    await until('the upload begins', async () => (await uploadsOf(signal)) > 0)
    // Nobody reads its talk any more: so it is when a terminal is closed.
    child.stderr.destroy()
    child.kill(signal)
    assert.deepEqual(await exited, [code, null])
    assert.equal(await uploadsOf(signal), 0)
  })

test('SIGTERM removes the file of an unfinished download', async (t) => {
  const folder = at('unfinished')
  mkdirSync(folder)
  // A service that begins to answer, and goes silent.
  const silent = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': String(MIB), etag: '"x"' })
    response.write(Buffer.alloc(1024))
  })
  t.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const child = cli.spawn(['cp', `s3://${BUCKET}/key`, `${folder}/file`, '--base-url', url])
  const exited = once(child, 'exit')
  await until('the download begins', () => readdirSync(folder).length > 0)
  assert.match(readdirSync(folder)[0] ?? '', /^\.ergon-.*\.part$/)
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [143, null])
  assert.deepEqual(readdirSync(folder), [])
})
