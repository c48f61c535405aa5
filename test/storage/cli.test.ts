// Object storage from the command line: the real program against a real service. Uploaded files come down again byte
// for byte, and refusals name the next step.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { createCli, MIB } from './cli-runs.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const BUCKET = 'storage-cli'
const cli = createCli()
const { at, run, done, json, program } = cli
const folder = at()

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened))
after(() => cli.close())

type Copied = {
  files: number
  bytes: number
  answers: number
  energy_j: number
  energy_estimate: string | null
}

/** Path below a folder → its bytes. */
function contentsOf(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = names.filter((name) => statSync(join(root, name)).isFile())
  return new Map(files.map((name) => [name, readFileSync(join(root, name), 'hex')]))
}

test('a bucket is made in the region that was asked for, and is listed with it', async () => {
  const made = await json<{ bucket: string; energy_j: number }>(
    'create',
    BUCKET,
    '--region',
    'local',
  )
  assert.equal(made.bucket, BUCKET)
  assert.ok(made.energy_j > 0)
  const buckets = await json<{ name: string; region: string }[]>('ls')
  assert.equal(buckets.find(({ name }) => name === BUCKET)?.region, 'local')
})

test('a folder goes up, within storage and down again as it was', async () => {
  const files: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'a b+c%20d.txt': Buffer.from('plus and percent'),
    'ü/日本/🎈': Buffer.from('nested'),
    'ü/large': randomBytes(2 * MIB),
  }
  mkdirSync(at('tree/ü/日本'), { recursive: true })
  for (const [name, bytes] of Object.entries(files)) writeFileSync(at('tree', name), bytes)
  symlinkSync('..', at('tree/circle'))

  const up = await program(['cp', '--recursive', at('tree'), `s3://${BUCKET}/tree`, '--json'])
  assert.match(up.stderr, /left out, not a file: .*circle/)
  const copied = JSON.parse(up.stdout.toString()) as Copied
  assert.equal(copied.files, 4)
  assert.equal(copied.answers, 4)
  assert.ok(copied.energy_j > 0 && copied.energy_estimate === null)

  await done('cp', '--recursive', `s3://${BUCKET}/tree/`, `s3://${BUCKET}/copy/`)
  const down = await json<Copied>('cp', '--recursive', `s3://${BUCKET}/copy`, at('down'))
  const bytes = Object.values(files).reduce((sum, { length }) => sum + length, 0)
  assert.deepEqual([down.files, down.bytes], [4, bytes])
  assert.equal(down.energy_estimate, 'ceiling', 'an answer of 2 MiB bears its ceiling')
  rmSync(at('tree/circle'))
  assert.deepEqual(contentsOf(at('down')), contentsOf(at('tree')))
})

test('a file of 9 MiB goes up in parts, and comes down into a file and a pipe', async () => {
  const body = randomBytes(9 * MIB)
  writeFileSync(at('large.bin'), body)
  symlinkSync('large.bin', at('link.bin'))
  const up = await json<Copied>('cp', at('link.bin'), `s3://${BUCKET}/`)
  assert.equal(up.bytes, body.length)
  assert.equal(up.answers, 4, 'begin, two parts, complete')
  const head = await s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'link.bin' }))
  assert.match(head.ETag ?? '', /-2"$/)
  await done('cp', `s3://${BUCKET}/link.bin`, at('back.bin'))
  assert.ok(readFileSync(at('back.bin')).equals(body))
  const piped = await program(['cp', `s3://${BUCKET}/link.bin`, '-'])
  assert.ok(piped.stdout.equals(body))
  const copied = await json<Copied>('cp', `s3://${BUCKET}/link.bin`, `s3://${BUCKET}/twice`)
  assert.equal(copied.bytes, body.length)
  await program(['cp', '-', `s3://${BUCKET}/piped`], { input: body })
  await done('cp', `s3://${BUCKET}/piped`, `${folder}/`)
  assert.ok(readFileSync(at('piped')).equals(body))
})

test('ls shows folders and keys, and rm removes what it was told and no neighbour', async () => {
  for (const key of ['list/one', 'list/deep/two', 'list-2'])
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: key }))
  type Listing = { prefixes: string[]; objects: { key: string; size: number; modified: string }[] }
  const shallow = await json<Listing>('ls', `s3://${BUCKET}/list/`)
  assert.deepEqual(shallow.prefixes, ['list/deep/'])
  const [one] = shallow.objects
  assert.deepEqual([one?.key, one?.size], ['list/one', 8])
  assert.ok(Math.abs(Date.parse(one?.modified ?? '') - Date.now()) < 3_600_000)
  const text = (await done('ls', '--recursive', `s3://${BUCKET}/list`)).stdout
  assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +13 {2}list\/deep\/two$/m)
  assert.match(text, / list-2$/m)

  const removed = await json<{ objects: number }>('rm', '--recursive', `s3://${BUCKET}/list`)
  assert.equal(removed.objects, 2)
  await done('rm', `s3://${BUCKET}/piped`)
  const left = await json<Listing>('ls', '--recursive', `s3://${BUCKET}`)
  const keys = left.objects.map(({ key }) => key)
  assert.ok(keys.includes('list-2') && !keys.includes('piped') && !keys.includes('list/one'))
})

test('keys that lead out of the folder, and escape sequences, stay where they are', async () => {
  const Bucket = 'storage-cli-hostile'
  await done('create', Bucket)
  for (const Key of ['out/../../escaped', 'bell\u001b[31m'])
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))
  const outside = await run(['cp', '--recursive', `s3://${Bucket}`, at('inner', 'most')])
  assert.equal(outside.code, 1)
  assert.match(outside.stderr, /No file can have the name/)
  assert.ok(!existsSync(at('escaped')) && !existsSync(at('inner', 'escaped')))
  const listed = (await done('ls', `s3://${Bucket}`)).stdout
  assert.match(listed, /bell\\x1b\[31m/)
  assert.ok(!listed.includes('\u001b'))
  const full = await program(['rb', Bucket], { code: 1 })
  assert.match(full.stderr, /BucketNotEmpty[\s\S]*rm --recursive/)
  await done('rm', '--recursive', `s3://${Bucket}`)
  await done('rb', Bucket)
})

test('a command that fails leaves no file, and says what to do', async () => {
  const nowhere = await run(['cp', at('large.bin'), 's3://storage-cli-absent/key'])
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stderr, /NoSuchBucket[\s\S]*ergon storage create storage-cli-absent/)
  mkdirSync(at('none'))
  const absent = await run(['cp', `s3://${BUCKET}/absent`, at('none', 'file')])
  assert.equal(absent.code, 1)
  assert.match(absent.stderr, /NoSuchKey[\s\S]*ergon storage ls/)
  assert.deepEqual(readdirSync(at('none')), [])
  mkdirSync(at('none', 'link.bin', 'taken'), { recursive: true })
  const taken = await run(['cp', '--recursive', `s3://${BUCKET}`, at('none')])
  assert.equal(taken.code, 1)
  assert.match(taken.stderr, /EISDIR|ENOTEMPTY/)
  const leftovers = readdirSync(at('none'), { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    leftovers.filter((name) => name.includes('.ergon-')),
    [],
  )
  const target = await run(['cp', `s3://${BUCKET}/list-2`, 's3://storage-cli-absent/key'])
  assert.match(target.stderr, /ergon storage create storage-cli-absent/)

  const { token } = await ergon.control('token.create', { scope: 'read' })
  const reader = await run(['cp', at('large.bin'), `s3://${BUCKET}/no`], token)
  assert.equal(reader.code, 1)
  assert.match(reader.stderr, /AccessDenied[\s\S]*token of scope deploy/)
  const stranger = await run(['ls'], `svc_${'x'.repeat(38)}`)
  assert.equal(stranger.code, 4, stranger.stderr)
  const silent = await run(['ls', '--base-url', 'http://127.0.0.1:9'])
  assert.equal(silent.code, 1)
  assert.match(silent.stderr, /Could not reach/)

  const misused = [
    ['rm', `s3://${BUCKET}`],
    ['rm', 'file'],
    ['cp', at('large.bin'), at('other')],
    ['cp', at('tree'), `s3://${BUCKET}/`],
    ['cp', `s3://${BUCKET}/tree/`, at('other')],
    ['cp', '-', `s3://${BUCKET}/`],
    ['ls', 's3://'],
    ['cp', at('large.bin')],
  ]
  for (const words of misused) assert.equal((await run(words)).code, 2, words.join(' '))
  await program(['cp', at('large.bin')], { code: 2 })
})

test('presign prints an address that works without a token, and nothing else on stdout', async () => {
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'for others', Body: 'read me' }))
  const get = await program(['presign', `s3://${BUCKET}/for others`])
  const url = get.stdout.toString().trim()
  assert.equal(await (await fetch(url)).text(), 'read me')
  assert.ok(!url.includes(ergon.token))
  type Made = { url: string; expires_at: string }
  const presign = ['presign', `s3://${BUCKET}/new`]
  const made = await json<Made>(...presign, '--method', 'put', '--expires', '5m')
  assert.ok(Date.parse(made.expires_at) <= Date.now() + 300_000)
  assert.equal((await fetch(made.url, { method: 'PUT', body: 'new' })).status, 200)
  for (const wrong of [
    ['--expires', '8d'],
    ['--expires', 'soon'],
    ['--method', 'delete'],
  ])
    assert.notEqual((await run([...presign, ...wrong])).code, 0, wrong.join(' '))
})
