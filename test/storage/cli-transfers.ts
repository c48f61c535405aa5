// What `ergon storage cp` does with single objects: their type.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { CreateBucketCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3'
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
