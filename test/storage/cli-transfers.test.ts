// `ergon storage cp` with single objects: their type, copies in parts, and the remains after a signal.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import {
  GetObjectAnnotationCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectAnnotationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { copies, type CopyLimits } from '#cli/storage/copies.ts'
import { runTransfers } from '#cli/storage/transfers.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import { withClient } from './client.ts'
import { createCli, MIB, sessionOf } from './cli-runs.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const BUCKET = 'storage-cli-transfers'
const cli = createCli()
const { at, run, done, program } = cli
let s3: S3Client
withClient((opened) => ({ s3 } = opened), { Bucket: BUCKET })
after(() => cli.close())

const headOf = (Key: string) => s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key }))
const typeOf = async (key: string) => (await headOf(key)).ContentType

test('the content type of an upload is by the end of its name, or by --content-type', async () => {
  mkdirSync(at('site/img'), { recursive: true })
  for (const name of ['index.html', 'img/photo.JPG', 'README']) writeFileSync(at('site', name), 'x')
  writeFileSync(at('large.css'), Buffer.alloc(9 * MIB))
  await done('cp', '--recursive', at('site'), `s3://${BUCKET}/site`)
  await done('cp', at('large.css'), `s3://${BUCKET}/large`)
  await program(['cp', '-', `s3://${BUCKET}/piped.json`], { input: Buffer.from('{}') })
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
    child.stdin.write(randomBytes(9 * MIB))
    await until('the upload begins', async () => (await uploadsOf(signal)) > 0)
    // Nobody reads its talk any more: so it is when a terminal is closed.
    child.stderr.destroy()
    child.kill(signal)
    assert.deepEqual(await exited, [code, null])
    assert.equal(await uploadsOf(signal), 0)
  })

test('an upload that may not be removed is named, with the command that removes its parts', async () => {
  const { account, control } = sharedErgon()
  const given = await control('token.create', { scope: 'deploy', account, name: 'ends early' })
  const child = cli.spawn(['cp', '-', `s3://${BUCKET}/left`], given.token)
  const [said, exited] = [text(child.stderr), once(child, 'exit')]
  child.stdin.on('error', () => undefined)
  child.stdin.write(randomBytes(9 * MIB))
  await until('the upload begins', async () => (await uploadsOf('left')) > 0)
  await control('token.revoke', { token: given.id })
  child.stdin.end(randomBytes(9 * MIB))
  assert.deepEqual(await exited, [4, null])
  assert.match(await said, /remove them: ergon storage rm --uploads s3:\/\/.*\/left\n/)
  assert.equal(await uploadsOf('left'), 1)
  const removed = await cli.json<object>('rm', '--uploads', `s3://${BUCKET}/left`)
  assert.equal('uploads' in removed && removed.uploads, 1)
  assert.equal(await uploadsOf('left'), 0)
  assert.match(
    (await cli.done('rm', '--uploads', '--recursive', `s3://${BUCKET}`)).stderr,
    /removed 0 open/,
  )
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

const SMALL: CopyLimits = { wholeBytes: 8 * MIB, partBytes: 5 * MIB }
const place = (key: string) => ({ kind: 'object', bucket: BUCKET, key }) as const

/** Copies with small limits; gives the bytes that moved. */
async function copyInParts(from: string, to: string, session = sessionOf(s3)): Promise<number> {
  const plan = { from: place(from), to: place(to), recursive: false }
  return await runTransfers(session, await copies(session, plan, SMALL))
}

test('a copy above the limit goes in parts, with all that belongs to the object', async () => {
  const Key = 'large source+ü'
  const Body = randomBytes(11 * MIB)
  const Metadata = { colour: 'blue' }
  const said = {
    ContentType: 'image/png',
    CacheControl: 'no-cache',
    Tagging: 'a=1%2B&b=',
    Metadata,
  }
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, ...said }))
  const annotation = { Bucket: BUCKET, AnnotationName: 'note' }
  await s3.send(new PutObjectAnnotationCommand({ ...annotation, Key, AnnotationPayload: 'mine' }))

  assert.equal(await copyInParts(Key, 'parts/copy'), Body.length)
  const made = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'parts/copy' }))
  assert.ok(Body.equals((await made.Body?.transformToByteArray()) ?? Buffer.alloc(0)))
  assert.match(made.ETag ?? '', /-3"$/)
  assert.deepEqual(
    [made.ContentType, made.CacheControl, made.Metadata],
    ['image/png', 'no-cache', Metadata],
  )
  const copied = { Bucket: BUCKET, Key: 'parts/copy' }
  const { TagSet } = await s3.send(new GetObjectTaggingCommand(copied))
  assert.deepEqual(TagSet, [
    { Key: 'a', Value: '1+' },
    { Key: 'b', Value: '' },
  ])
  const note = await s3.send(new GetObjectAnnotationCommand({ ...annotation, ...copied }))
  assert.equal(await note.AnnotationPayload?.transformToString(), 'mine')
})

test('a copy in parts that fails, is stopped, or whose source changes leaves no upload', async () => {
  const Key = 'changing'
  const put = () =>
    s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: randomBytes(11 * MIB) }))
  await put()
  const session = sessionOf(s3)
  const faults: Record<string, { fault: () => unknown; told: object }> = {
    failed: {
      fault: () => Promise.reject(new RangeError('planted')),
      told: { message: 'planted' },
    },
    stopped: {
      fault: () => session.stop(new RangeError('stopped')),
      told: { message: 'stopped' },
    },
    changed: { fault: put, told: { name: 'PreconditionFailed' } },
  }
  for (const [to, { fault, told }] of Object.entries(faults)) {
    const planted = s3ClientOf(sharedErgon())
    planted.middlewareStack.add(
      (next) => async (args) => {
        if ('PartNumber' in args.input && args.input.PartNumber === 3) await fault()
        return await next(args)
      },
      { step: 'initialize' },
    )
    const given = to === 'stopped' ? { ...session, s3: planted } : sessionOf(planted)
    await assert.rejects(copyInParts(Key, to, given), told)
    planted.destroy()
    assert.equal(await uploadsOf(to), 0)
    await assert.rejects(headOf(to), { name: 'NotFound' })
  }
})
