// Access logs of buckets: each request that reaches one is a line of an object in another, an orderly stop
// delivers what waits, and a bucket that is its own target does not feed itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetBucketLoggingCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketEncryptionCommand,
  PutBucketLoggingCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
  type LoggingEnabled,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { chargeOf } from '../books.ts'
import { programOf, readyProgramOf } from '../faults/processes.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const SOURCE = 'logged-part'
const TARGET = 'logs-part'
const ITSELF = 'logs-itself-part'
const REFUSING = 'logged-refusals-part'
const FORMS = 'logged-forms-part'
const TRIES = 600
const BEARER_NOBODY = { headers: { authorization: 'Bearer svc_nobody' } }

let ergon: Ergon
let s3: S3Client
withClient(
  (opened) => ({ ergon, s3 } = opened),
  ...[SOURCE, TARGET, ITSELF, REFUSING, FORMS].map((Bucket) => ({ Bucket })),
)

const logTo = (Bucket: string, enabled: Partial<LoggingEnabled> | undefined): Promise<unknown> =>
  s3.send(
    new PutBucketLoggingCommand({
      Bucket,
      BucketLoggingStatus: {
        ...(enabled && {
          LoggingEnabled: { TargetBucket: TARGET, TargetPrefix: 'simple/', ...enabled },
        }),
      },
    }),
  )

async function loggingOf(Bucket: string): Promise<LoggingEnabled | undefined> {
  return (await s3.send(new GetBucketLoggingCommand({ Bucket }))).LoggingEnabled
}

/** The log objects below a prefix, and all their lines. */
async function logsOf(
  Bucket: string,
  Prefix: string,
): Promise<{ keys: string[]; lines: string[] }> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix }))
  const keys = Contents.map(({ Key = '' }) => Key)
  const lines: string[] = []
  for (const Key of keys) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
    const text = (await Body?.transformToString()) ?? ''
    assert.ok(text.endsWith('\n'))
    lines.push(...text.trimEnd().split('\n'))
  }
  return { keys, lines }
}

/** A line in its fields: words, quoted words, and the time. */
const fieldsOf = (line: string): string[] => line.match(/\[[^\]]*\]|"[^"]*"|[^ "]+/g) ?? []

test('logging is put on, told and taken off; a target is a bucket of the same owner', async () => {
  assert.equal(await loggingOf(SOURCE), undefined)
  await logTo(SOURCE, {})
  assert.deepEqual(await loggingOf(SOURCE), {
    TargetBucket: TARGET,
    TargetPrefix: 'simple/',
    TargetObjectKeyFormat: { SimplePrefix: {} },
  })
  await logTo(SOURCE, undefined)
  assert.equal(await loggingOf(SOURCE), undefined)
  const { token } = await newAccount()
  await s3ClientOf(ergon, token).send(new CreateBucketCommand({ Bucket: 'logs-of-a-stranger' }))
  for (const TargetBucket of ['logs-of-a-stranger', 'logs-nowhere'])
    await assert.rejects(logTo(SOURCE, { TargetBucket }), { name: 'InvalidTargetBucketForLogging' })
  await assert.rejects(logTo(SOURCE, { TargetPrefix: 'x'.repeat(513) }), {
    name: 'InvalidArgument',
  })
  assert.equal(await loggingOf(SOURCE), undefined)
})

let refusedBytes = 0
/** The account that signed a form. */
let signer = ''

test('requests of each kind go to buckets with a log; nothing is delivered before its time', async () => {
  await askOfOwnersAndNobody()
  await askAndAreRefused()
  await postForms()
  assert.equal((await logsOf(TARGET, '')).keys.length, 0, 'nothing is delivered before its time')
  // One stop for all of them.
  await restartGateway()
})

/** As a stop of the product stops it, which storage-move.test.ts shows; a start of all takes five times the CPU. */
async function restartGateway(): Promise<void> {
  const before = await readyProgramOf(ergon, 'gw-1')
  process.kill(before, 'SIGTERM')
  for (let tries = TRIES; (await programOf(ergon, 'gw-1')) === before; tries--) {
    assert.ok(tries > 0, 'the gateway does not end')
    await pause(50)
  }
  await ergon.answers()
}

async function askOfOwnersAndNobody(): Promise<void> {
  await logTo(SOURCE, {})
  await logTo(ITSELF, {
    TargetBucket: ITSELF,
    TargetPrefix: 'own/',
    TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'EventTime' } },
  })
  await s3.send(
    new PutBucketEncryptionCommand({
      Bucket: TARGET,
      ServerSideEncryptionConfiguration: {
        Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
    }),
  )
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${SOURCE}/a b`,
    },
  })
  await s3.send(new PutBucketPolicyCommand({ Bucket: SOURCE, Policy }))
  await s3.send(new PutObjectCommand({ Bucket: SOURCE, Key: 'a b', Body: 'twelve bytes' }))
  await s3.send(new PutObjectCommand({ Bucket: ITSELF, Key: 'one', Body: '' }))
  const headers = { referer: 'https://app.example/"x"', 'user-agent': 'a browser' }
  const page = await fetch(`${ergon.baseUrl}/${SOURCE}/a%20b`, { headers })
  assert.equal(await page.text(), 'twelve bytes')
  const refused = await fetch(`${ergon.baseUrl}/${SOURCE}/secret`)
  refusedBytes = (await refused.text()).length
}

async function askAndAreRefused(): Promise<void> {
  await logTo(REFUSING, { TargetPrefix: 'refusals/' })
  const { token } = await ergon.control('token.create', {
    scope: 'read',
    account: ergon.account,
  })
  const put = (client: S3Client) =>
    client.send(new PutObjectCommand({ Bucket: REFUSING, Key: 'k', Body: '' }))
  const wrongSecret = s3ClientOf(ergon, ergon.token, 'another')
  await assert.rejects(put(wrongSecret), { name: 'SignatureDoesNotMatch' })
  await assert.rejects(put(s3ClientOf(ergon, 'svc_nobody')), { name: 'InvalidAccessKeyId' })
  await assert.rejects(put(s3ClientOf(ergon, token)), { name: 'AccessDenied' })
  for (const path of ['?acl&policy', `/${'x'.repeat(1025)}`, '?x=%zz'])
    assert.equal((await fetch(`${ergon.baseUrl}/${REFUSING}${path}`)).status, 400, path)
  // Neither of these names a bucket that there is.
  for (const path of ['no-such-bucket/k', '%00/k'])
    await (await fetch(`${ergon.baseUrl}/${path}`, BEARER_NOBODY)).text()
  const Objects = [{ Key: 'a b' }, { Key: 'kept' }]
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: {
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:DeleteObject',
      Resource: `arn:aws:s3:::${REFUSING}/kept`,
    },
  })
  await s3.send(new PutBucketPolicyCommand({ Bucket: REFUSING, Policy }))
  await s3.send(new DeleteObjectsCommand({ Bucket: REFUSING, Delete: { Objects } }))
}

async function postForms(): Promise<void> {
  const { id, token } = await newAccount()
  signer = id
  const PublicAccessBlockConfiguration = {
    BlockPublicAcls: false,
    IgnorePublicAcls: false,
    BlockPublicPolicy: false,
    RestrictPublicBuckets: false,
  }
  await s3.send(new PutPublicAccessBlockCommand({ Bucket: FORMS, PublicAccessBlockConfiguration }))
  const allowed = (principal: string | object, key: string) => ({
    Effect: 'Allow',
    Principal: principal,
    Action: 's3:PutObject',
    Resource: `arn:aws:s3:::${FORMS}/${key}`,
  })
  const Statement = [allowed('*', 'public'), allowed({ AWS: id }, 'signed')]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await s3.send(new PutBucketPolicyCommand({ Bucket: FORMS, Policy }))
  await logTo(FORMS, { TargetPrefix: 'forms/' })
  const theirs = s3ClientOf(ergon, token)
  const { fields } = await createPresignedPost(theirs, { Bucket: FORMS, Key: 'signed' })
  const signed = await post('signed', fields)
  assert.deepEqual([signed.status, await payerOf(signed)], [204, id])
  const forged = { ...fields, 'X-Amz-Signature': '0'.repeat(64) }
  assert.equal((await post('signed', forged)).status, 403)
  const open = await post('public', {})
  assert.deepEqual([open.status, await payerOf(open)], [204, ergon.account])
}

async function payerOf({ headers }: Response): Promise<string> {
  return (await chargeOf(ergon, String(headers.get('x-receipt-id')))).account
}

async function newAccount(): Promise<{ id: string; token: string }> {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const minted = { scope: 'deploy', account: id } as const
  const { token } = await ergon.control('token.create', minted)
  return { id, token }
}

async function post(key: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const data = new FormData()
  for (const [name, value] of Object.entries({ key, ...fields })) data.append(name, value)
  data.append('file', new Blob(['text']), 'name.txt')
  return await fetch(`${ergon.baseUrl}/${FORMS}`, { method: 'POST', body: data })
}

test('an orderly stop delivers the lines of all requests, as objects of the target', async () => {
  const { keys, lines } = await logsOf(TARGET, 'simple/')
  assert.equal(keys.length, 1)
  assert.match(keys[0] ?? '', /^simple\/\d{4}(-\d\d){5}-[0-9A-F]{16}$/)
  const found = lines.map(fieldsOf)
  assert.ok(found.every(({ length }) => length === 26))
  const line = (operation: string, status: string) =>
    found.find((fields) => fields[6] === operation && fields[9] === status) ?? []
  assert.deepEqual(found.map((fields) => fields[6]).toSorted(), [
    'REST.GET.LOGGING_STATUS',
    'REST.GET.OBJECT',
    'REST.GET.OBJECT',
    'REST.PUT.BUCKETPOLICY',
    'REST.PUT.LOGGING_STATUS',
    'REST.PUT.OBJECT',
  ])
  const put = line('REST.PUT.OBJECT', '200')
  const get = line('REST.GET.OBJECT', '200')
  const denied = line('REST.GET.OBJECT', '403')
  assert.deepEqual(put.slice(0, 2), [ergon.account, SOURCE])
  assert.deepEqual([put[4], put[7], put[9], put[21]], [ergon.account, 'a%20b', '200', 'AuthHeader'])
  assert.deepEqual(get.slice(4, 5), ['-'])
  assert.deepEqual(get.slice(8, 13), [`"GET /${SOURCE}/a%20b HTTP/1.1"`, '200', '-', '12', '12'])
  assert.deepEqual(get.slice(15, 17), ['"https://app.example/\\x22x\\x22"', '"a browser"'])
  assert.deepEqual(denied.slice(9, 12), ['403', 'AccessDenied', String(refusedBytes)])
  const log = await s3.send(new GetObjectCommand({ Bucket: TARGET, Key: keys[0] }))
  assert.equal(log.ServerSideEncryption, 'AES256')
  await log.Body?.transformToByteArray()
})

test('a request that is refused before the bucket is looked up has a line, and each key of a batch', async () => {
  const { lines } = await logsOf(TARGET, 'refusals/')
  const found = lines.map(fieldsOf)
  assert.ok(found.every(({ length, [5]: id = '' }) => length === 26 && id.startsWith('req_')))
  assert.ok(found.every(([owner, bucket]) => owner === ergon.account && bucket === REFUSING))
  const told = found.map((fields) => [4, 6, 7, 9, 10].map((nth) => fields[nth]).join(' '))
  const us = ergon.account
  assert.deepEqual(told.toSorted(), [
    '- REST.GET.BUCKET - 400 InvalidArgument',
    '- REST.GET.BUCKET - 400 InvalidURI',
    '- REST.GET.BUCKET - 400 KeyTooLongError',
    '- REST.PUT.OBJECT k 403 InvalidAccessKeyId',
    '- REST.PUT.OBJECT k 403 SignatureDoesNotMatch',
    `${us} BATCH.DELETE.OBJECT a%20b 204 -`,
    `${us} BATCH.DELETE.OBJECT kept 403 AccessDenied`,
    `${us} REST.POST.MULTI_OBJECT_DELETE - 200 -`,
    `${us} REST.PUT.BUCKETPOLICY - 204 -`,
    `${us} REST.PUT.OBJECT k 403 AccessDenied`,
  ])
  const batch = found.find((fields) => fields[6] === 'BATCH.DELETE.OBJECT') ?? []
  assert.deepEqual(batch.slice(8, 18).join(' '), '- 204 - - - - - - - -')
  assert.equal(batch[21], 'AuthHeader')
  await logTo(REFUSING, undefined)
})

test('the log of a bucket names who signed a form, and nobody where nobody proved it', async () => {
  const { keys, lines } = await logsOf(TARGET, 'forms/')
  assert.equal(keys.length, 1)
  const told = lines
    .map(fieldsOf)
    .map((fields) => [4, 6, 7, 9, 10, 21].map((nth) => fields[nth]).join(' '))
  assert.deepEqual(told.toSorted(), [
    '- REST.POST.OBJECT public 204 - -',
    '- REST.POST.OBJECT signed 403 SignatureDoesNotMatch -',
    `${signer} REST.POST.OBJECT signed 204 - AuthHeader`,
  ])
  await logTo(FORMS, undefined)
})

test('a bucket that logs to itself tells of requests only, and nobody pays for the delivery', async () => {
  const first = await logsOf(ITSELF, 'own/')
  assert.match(
    first.keys.join(),
    new RegExp(`^own/${ergon.account}/local/${ITSELF}/\\d{4}/\\d\\d/\\d\\d/\\d{4}(-\\d\\d){5}-`),
  )
  assert.deepEqual(
    first.lines.map((line) => fieldsOf(line)[6]),
    ['REST.PUT.OBJECT'],
  )
  const charges = async () =>
    (await ergon.sql("select count(*) from charges where operation = 'storage.put-object'"))[0]
  const before = await charges()
  await restartGateway()
  // The request that read the first log is in the second log; no line is of the delivery.
  const second = await logsOf(ITSELF, 'own/')
  const added = second.lines.slice(first.lines.length).map((line) => fieldsOf(line)[6])
  assert.deepEqual([...new Set(added)].toSorted(), ['REST.GET.BUCKET', 'REST.GET.OBJECT'])
  assert.deepEqual(await charges(), before)
  await logTo(ITSELF, undefined)
  await logTo(SOURCE, undefined)
})
