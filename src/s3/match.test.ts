// match() against every command of the AWS SDK, as the SDK itself writes it on the wire.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sdk from '@aws-sdk/client-s3'
import { ErgonError } from '#base/errors.ts'
import { match } from './match.ts'
import { S3_OPERATIONS } from '#contract/storage/s3-operations.ts'
import { parseTarget } from './target.fixture.ts'

const BASES = { api: ['localhost'], website: ['website.localhost'] }
type Sent = { method: string; path: string; query: Record<string, unknown>; headers: object }

/** Names that the SDK's client gives each command: PutObjectCommand → put-object. */
const COMMANDS = Object.keys(sdk).filter((name) => /^[A-Z].*Command$/.test(name))
const kebab = (name: string) =>
  name
    .replace(/Command$/, '')
    .replace(/V2$/, '-v2')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase()

const INPUT = {
  Bucket: 'photos',
  Key: 'a/b c',
  CopySource: 'photos/other',
  UploadId: 'u1',
  PartNumber: 1,
  Id: 'i1',
  RenameSource: '/photos/other',
  RequestRoute: 'route',
  RequestToken: 'token',
  AnnotationName: 'note',
  Body: 'body',
  ObjectAttributes: ['ETag'],
  Delete: { Objects: [{ Key: 'a' }] },
  Tagging: { TagSet: [] },
}

async function sent(name: string): Promise<Sent> {
  let request: Sent | undefined
  const client = new sdk.S3Client({
    region: 'us-east-1',
    endpoint: 'http://localhost:9',
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
    // Else the first request of a directory-bucket command is CreateSession.
    disableS3ExpressSessionAuth: true,
  })
  client.middlewareStack.add(
    () => async (args) => {
      request = args.request as Sent
      throw new TypeError('Not sent')
    },
    { step: 'finalizeRequest', priority: 'high' },
  )
  const Command = (sdk as unknown as Record<string, new (input: object) => never>)[name]!
  const input = structuredClone(INPUT) as Record<string, unknown>
  if (name.startsWith('ListBucket') || name === 'ListObjectAnnotationsCommand') delete input['Id']
  await assert.rejects(client.send(new Command(input)), (error: Error) => {
    assert.equal(error.message, 'Not sent', `${name}: ${error.stack}`)
    return true
  })
  client.destroy()
  assert.ok(request, name)
  return request
}

function targetOf({ path, query }: Sent): string {
  const pairs = Object.entries(query ?? {}).map(([name, value]) =>
    value === null || value === '' ? name : `${name}=${encodeURIComponent(String(value))}`,
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

test('match() finds the operation of every command of the AWS SDK', async () => {
  assert.equal(COMMANDS.length, 112)
  for (const command of COMMANDS) {
    const request = await sent(command)
    const target = parseTarget(targetOf(request), 'localhost:8080', BASES)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    )
    const { operation, row } = match(request.method, target, headers)
    assert.equal(operation, kebab(command), `${request.method} ${targetOf(request)}`)
    assert.equal(row.scope, /^(GET|HEAD)$/.test(request.method) ? 'read' : 'deploy')
  }
})

test('every operation without a command is a form, a preflight or a page', () => {
  const commands = new Set(COMMANDS.map(kebab))
  const others = Object.keys(S3_OPERATIONS).filter((name) => !commands.has(name))
  assert.deepEqual(others.toSorted(), [
    'get-website-page',
    'head-website-page',
    'list-bucket-events',
    'post-object',
    'preflight-bucket',
    'preflight-object',
    'preflight-service',
    'preflight-website',
  ])
})

const at = (target: string, host = 'localhost') => parseTarget(target, host, BASES)

test('match() tells a browser form and its preflight', () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  assert.equal(match('POST', at('/photos'), headers).operation, 'post-object')
  assert.equal(match('OPTIONS', at('/photos/k?acl'), {}).operation, 'preflight-object')
  assert.equal(match('OPTIONS', at('/photos/k?acl'), {}).row.scope, null)
})

test('match() names the action of a version', () => {
  assert.equal(match('GET', at('/b/k'), {}).action, 's3:GetObject')
  assert.equal(match('GET', at('/b/k?versionId=null'), {}).action, 's3:GetObjectVersion')
  assert.equal(match('PUT', at('/b/k?acl&versionId=null'), {}).action, 's3:PutObjectVersionAcl')
})

test('match() takes no version where there is none', () => {
  const copying = { 'x-amz-copy-source': '/b/other?versionId=1' }
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  const refused = { code: 'InvalidArgument' }
  assert.throws(() => match('PUT', at('/b/k?versionId=1'), {}), refused)
  assert.throws(() => match('PUT', at('/b/k?versionId'), copying), refused)
  assert.throws(() => match('PUT', at('/b/k?uploadId=u&versionId=1'), copying), refused)
  assert.throws(() => match('POST', at('/b/k?uploads&versionId=1'), {}), refused)
  assert.throws(() => match('POST', at('/b?delete&versionId=1'), {}), refused)
  assert.throws(() => match('POST', at('/b?versionId=1'), form), refused)
  const ofVersions = {
    GET: ['', 'attributes', 'annotation'],
    DELETE: ['', 'tagging', 'annotation'],
  }
  for (const [method, names] of Object.entries({
    ...ofVersions,
    HEAD: [''],
    PUT: ['tagging', 'acl', 'retention', 'legal-hold', 'annotation', 'encryption'],
  }))
    for (const name of names) match(method, at(`/b/k?${name}&versionId=null`), {})
})

test('match() reads a website address', () => {
  const page = at('/index.html?acl', 'photos.website.localhost:8080')
  assert.equal(match('GET', page, {}).operation, 'get-website-page')
  assert.throws(() => match('PUT', page, {}), { code: 'MethodNotAllowed' })
})

test('match() refuses what no operation is', () => {
  assert.throws(() => match('POST', at('/b'), {}), { code: 'MethodNotAllowed' })
  assert.throws(() => match('PATCH', at('/b/k'), {}), { code: 'MethodNotAllowed' })
  assert.throws(() => match('PUT', at('/b/k?policy'), {}), { code: 'InvalidRequest' })
  assert.throws(() => match('GET', at('/b?acl&policy'), {}), { code: 'InvalidArgument' })
})

test('match() says what is allowed instead', () => {
  const allowed = (method: string, target: string, host?: string) => {
    try {
      match(method, at(target, host), {})
    } catch (error) {
      if (error instanceof ErgonError) return error.headers['allow']
    }
    return assert.fail(`${method} ${target} was not refused`)
  }
  assert.equal(allowed('POST', '/b?cors'), 'GET, PUT, DELETE, OPTIONS')
  assert.equal(allowed('PUT', '/'), 'GET, OPTIONS')
  assert.equal(allowed('PATCH', '/b/k'), 'GET, HEAD, PUT, DELETE, OPTIONS')
  assert.equal(allowed('PUT', '/', 'photos.website.localhost'), 'GET, HEAD, OPTIONS')
})

test('match() refuses the id of a version that can be none', () => {
  const id = '0123456789abcdef0123456789abcdef'
  match('GET', at(`/b/k?versionId=${id}`), {})
  for (const wrong of ['', '1', 'NULL', `f${id.slice(1)}`, id.toUpperCase(), `${id}0`])
    assert.throws(() => match('GET', at(`/b/k?versionId=${wrong}`), {}), {
      code: 'InvalidArgument',
      message: 'Invalid version id specified',
    })
})

test('match() finds the fixed answer of an operation that is not served', () => {
  assert.equal(match('PUT', at('/b?replication'), {}).row.answer, 'NotImplemented')
  const { answer } = match('GET', at('/b?replication'), {}).row
  assert.equal(answer, 'ReplicationConfigurationNotFoundError')
})
