// Access to objects without the token: addresses that the service signs, the account's switch against their bearers,
// and pairs of keys; with the AWS SDK as the signer and fetch as the stranger.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { chargeOf } from '../books.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { versionTwoAddress } from './version-two-address.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-addresses'

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })
before(async () => {
  await put('shared', 'shared text')
})

const put = (Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body }))

async function textOf(Key: string): Promise<string | undefined> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
  return await Body?.transformToString()
}

type Address = { url: string; expires_at: string; access_key_id: string }

async function presign(token: string, asked: object): Promise<Address> {
  const answer = await fetch(`${ergon.baseUrl}/v1/storage/presigned`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bucket: Bucket, ...asked }),
  })
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()) as Address
}

async function assertRefusal(answer: Response, code: string, status = 403): Promise<string> {
  const text = await answer.text()
  assert.equal(answer.status, status, text)
  assert.match(text, new RegExp(`<Code>${code}</Code>`))
  return text
}

const mintToken = (scope: 'read' | 'deploy', account = ergon.account) =>
  ergon.control('token.create', { scope, account })

test('an address that the service made does one thing, bears no token and dies with its token', async () => {
  const key = "a b/ü+'(1)*&?%41.txt"
  await put(key, 'made by the service')
  const { id, token } = await mintToken('deploy')
  const { url, access_key_id: keyId } = await presign(token, { key })
  assert.match(keyId, /^svcp_[0-9a-z]{26}$/)
  assert.ok(!url.includes('svc_'))
  const answer = await fetch(url)
  assert.equal(await answer.text(), 'made by the service')
  const { account, operation } = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
  assert.deepEqual([account, operation], [ergon.account, 'storage.get-object'])

  await assertRefusal(await fetch(url, { method: 'PUT', body: 'x' }), 'SignatureDoesNotMatch')
  await assertRefusal(await fetch(url, { method: 'DELETE' }), 'SignatureDoesNotMatch')
  await assertRefusal(await fetch(url.replace('.txt?', '.txtx?')), 'SignatureDoesNotMatch')
  await assertRefusal(await fetch(`${url}&versionId=null`), 'SignatureDoesNotMatch')
  const longer = url.replace('X-Amz-Expires=3600', 'X-Amz-Expires=7200')
  await assertRefusal(await fetch(longer), 'SignatureDoesNotMatch')
  const others = url.replace(keyId, keyId.slice(0, -1) + (keyId.endsWith('0') ? '1' : '0'))
  await assertRefusal(await fetch(others), 'InvalidAccessKeyId')

  const writing = await presign(token, { key: 'put here', method: 'PUT' })
  assert.equal((await fetch(writing.url, { method: 'PUT', body: 'by address' })).status, 200)
  assert.equal(await textOf('put here'), 'by address')
  await assertRefusal(await fetch(writing.url), 'SignatureDoesNotMatch')

  const short = await presign(token, { key, expires_s: 1 })
  while (Date.now() <= Date.parse(short.expires_at)) await pause(50)
  assert.match(await assertRefusal(await fetch(short.url), 'AccessDenied'), /has expired/)

  await ergon.control('token.revoke', { token: id })
  await assertRefusal(await fetch(url), 'InvalidAccessKeyId')
})

test('an address can do no more than the account that made it', async () => {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const stranger = await mintToken('deploy', account)
  for (const method of ['GET', 'PUT']) {
    const { url } = await presign(stranger.token, { key: 'shared', method })
    await assertRefusal(await fetch(url, { method }), 'AccessDenied')
  }
  const reader = await mintToken('read')
  const refused = await fetch(`${ergon.baseUrl}/v1/storage/presigned`, {
    method: 'POST',
    headers: { authorization: `Bearer ${reader.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bucket: Bucket, key: 'shared', method: 'PUT' }),
  })
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /scope_missing/)
})

test('an account may refuse addresses and forms that bear a token, and no others', async () => {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const { token } = await mintToken('deploy', account)
  const own = s3ClientOf(ergon, token)
  const place = { Bucket: 'storage-addresses-refusing', Key: 'key' }
  await own.send(new CreateBucketCommand({ Bucket: place.Bucket }))
  await own.send(new PutObjectCommand({ ...place, Body: 'text' }))
  const byToken = await getSignedUrl(own, new GetObjectCommand(place))
  const older = versionTwoAddress(
    ergon.baseUrl,
    { id: token, secret: token },
    { path: `/${place.Bucket}/${place.Key}` },
  )
  const form = await createPresignedPost(own, place)
  const byService = await presign(token, { bucket: place.Bucket, key: place.Key })
  const post = async (): Promise<Response> => {
    const data = new FormData()
    for (const [name, value] of Object.entries(form.fields)) data.append(name, value)
    data.append('file', new Blob(['posted']), 'name.txt')
    return await fetch(form.url, { method: 'POST', body: data })
  }
  assert.equal((await fetch(byToken)).status, 200)
  assert.equal((await fetch(older)).status, 200)
  assert.equal((await post()).status, 204)

  const set = (state: string) =>
    ergon.cli('admin', 'account', 'set', account, '--refuse-token-presign', state)
  const switched = await set('on')
  assert.equal(switched.code, 0, switched.stderr)
  // A gateway acts on it from its next tick on.
  const deadline = performance.now() + 30_000
  let answer = await fetch(byToken)
  while (answer.status !== 403 && performance.now() < deadline) {
    await pause(50)
    answer = await fetch(byToken)
  }
  assert.match(await assertRefusal(answer, 'AccessDenied'), /refuses presigned addresses/)
  await assertRefusal(await fetch(older), 'AccessDenied')
  await assertRefusal(await post(), 'AccessDenied')
  assert.equal((await fetch(byService.url)).status, 200)
  await own.send(new HeadObjectCommand(place))

  assert.equal((await set('off')).code, 0)
  assert.equal((await set('maybe')).code, 2)
  while ((await fetch(byToken)).status !== 200 && performance.now() < deadline) await pause(50)
  assert.equal((await fetch(byToken)).status, 200)
})

test('a pair of keys signs like a token, without being one, and its addresses give nothing away', async () => {
  const made = await ergon.cli(
    'admin',
    'token',
    'create',
    '--scope',
    'deploy',
    '--key-pair',
    '--json',
  )
  assert.equal(made.code, 0, made.stderr)
  const pair = JSON.parse(made.stdout) as Record<string, string>
  assert.equal(pair['token'], undefined)
  const { access_key_id: id, secret_access_key: secret } = pair
  const own = s3ClientOf(ergon, id, secret)
  const place = { Bucket, Key: 'by pair' }
  await own.send(new PutObjectCommand({ ...place, Body: 'signed by a pair' }))
  const upload = new Upload({
    client: own,
    params: { ...place, Body: Readable.from(['in chunks']) },
  })
  await upload.done()
  const url = await getSignedUrl(own, new GetObjectCommand(place))
  assert.equal(await (await fetch(url)).text(), 'in chunks')
  assert.ok(!url.includes('svc_') && !url.includes(String(secret)))
  const form = await createPresignedPost(own, place)
  const data = new FormData()
  for (const [name, value] of Object.entries(form.fields)) data.append(name, value)
  data.append('file', new Blob(['by form']), 'name.txt')
  assert.equal((await fetch(form.url, { method: 'POST', body: data })).status, 204)

  // Its id alone opens nothing, nor does the id of the token behind it.
  for (const wrong of [id, pair['id'], `${secret}x`])
    await assert.rejects(s3ClientOf(ergon, id, wrong).send(new GetObjectCommand(place)), {
      name: 'SignatureDoesNotMatch',
    })
  for (const text of [id, pair['id'], secret]) {
    const headers = { authorization: `Bearer ${text}` }
    assert.equal((await fetch(`${ergon.baseUrl}/v1/models`, { headers })).status, 401)
    assert.equal((await fetch(`${ergon.baseUrl}/${Bucket}/shared`, { headers })).status, 403)
  }
  const path = `/${Bucket}/shared`
  const keys = { id: String(id), secret: String(secret) }
  assert.equal((await fetch(versionTwoAddress(ergon.baseUrl, keys, { path }))).status, 200)
  // A key that was made for one address signs nothing else.
  const { access_key_id: single = '' } = await presign(ergon.token, { key: 'shared' })
  const bySingle = versionTwoAddress(
    ergon.baseUrl,
    { id: single, secret: String(secret) },
    { path },
  )
  await assertRefusal(await fetch(bySingle), 'InvalidAccessKeyId')
  await assert.rejects(s3ClientOf(ergon, single, secret).send(new GetObjectCommand(place)), {
    name: 'InvalidAccessKeyId',
  })
  const rows = await ergon.sql('select t::text as row from tokens t where id = $1', [pair['id']])
  assert.ok(!JSON.stringify(rows).includes(String(secret)))

  await ergon.control('token.revoke', { token: String(pair['id']) })
  await assert.rejects(own.send(new GetObjectCommand(place)), { name: 'InvalidAccessKeyId' })
})
