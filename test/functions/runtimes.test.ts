// Runtimes of functions as the code in them knows them: events of Lambda, errors at the places of the author, ends.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { functionClient, until } from './function-client.ts'

product(PLAIN)
const { deploy, textAt, logsOf } = functionClient(sharedErgon)

let folder: string
before(() => (folder = mkdtempSync(join(tmpdir(), 'ergon-runtimes-'))))
after(() => rmSync(folder, { recursive: true, force: true }))

test('a Lambda handler gets events of payload format 2.0', async () => {
  await deploy('events', 'export const handler = async (event, context) => ({ event, context })')
  const [status, text] = await textAt('/events/a%20b?x=1&x=2&y=%C3%A4', {
    method: 'POST',
    headers: { cookie: 'one=1; two=2', 'x-twice': 'a, b', 'user-agent': 'test' },
    body: 'text',
  })
  assert.equal(status, 200)
  const { event, context } = JSON.parse(text) as Record<
    'event' | 'context',
    Record<string, unknown>
  >
  const { headers, requestContext, ...rest } = event
  assert.deepEqual(rest, {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/events/a%20b',
    rawQueryString: 'x=1&x=2&y=%C3%A4',
    cookies: ['one=1', 'two=2'],
    queryStringParameters: { x: '1,2', y: 'ä' },
    body: 'text',
    isBase64Encoded: false,
  })
  const sent = headers as Record<string, string>
  assert.deepEqual([sent['x-twice'], sent['cookie']], ['a, b', undefined])
  const { http, time, timeEpoch, requestId } = requestContext as Record<string, unknown>
  assert.deepEqual(http, {
    method: 'POST',
    path: '/events/a%20b',
    protocol: 'HTTP/1.1',
    sourceIp: '127.0.0.1',
    userAgent: 'test',
  })
  assert.match(String(time), /^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/)
  assert.ok(Math.abs(Number(timeEpoch) - Date.now()) < 60_000)
  assert.deepEqual(
    [context['functionName'], context['functionVersion'], context['memoryLimitInMB']],
    ['events', '1', '128'],
  )
  assert.equal(context['awsRequestId'], requestId)
})

test('bytes travel to a Lambda handler and back as base64, and cookies are headers of their own', async () => {
  await deploy(
    'bytes',
    `export const handler = async ({ body, isBase64Encoded }) => ({
       statusCode: 200, isBase64Encoded, body, cookies: ['a=1', 'b=2'],
       headers: { 'content-type': 'image/png', 'x-encoded': isBase64Encoded },
     })`,
  )
  const sent = Buffer.from([0, 255, 128, 10])
  const answer = await fetch(`${String(sharedErgon().ready['functions_url'])}/bytes`, {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
    body: sent,
  })
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), sent)
  assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'])
  assert.equal(answer.headers.get('x-encoded'), 'true')
})

test('results of Lambda without a status are bodies: text as it is, the rest as JSON', async () => {
  await deploy(
    'results',
    `const results = { text: 'plain', object: { a: 1 }, nothing: undefined, empty: { statusCode: 204 } }
     export const handler = async ({ rawPath }) => results[rawPath.split('/').at(-1)]`,
  )
  assert.deepEqual(await textAt('/results/text'), [200, 'plain'])
  assert.deepEqual(await textAt('/results/object'), [200, '{"a":1}'])
  assert.deepEqual(await textAt('/results/nothing'), [200, 'null'])
  assert.deepEqual(await textAt('/results/empty'), [204, ''])
})

test('errors name file and line of the author, and nothing of the runtime', async () => {
  writeFileSync(
    join(folder, 'part.ts'),
    '// One line before.\nexport const fail = (): never => {\n  throw new TypeError("of the part")\n}\n',
  )
  const path = join(folder, 'whole.ts')
  writeFileSync(path, "import { fail } from './part.ts'\n\nexport default () => fail()\n")
  const { code, stderr } = await sharedErgon().cli('fn', 'deploy', path)
  assert.equal(code, 0, stderr)
  assert.equal((await textAt('/whole'))[0], 502)
  const log = await until(
    () => logsOf('whole'),
    (text) => text.includes('TypeError'),
  )
  assert.match(log, /TypeError: of the part\n.*at fail \(part\.ts:3:9\)/)
  assert.match(log, /whole\.ts:3:\d+/)
  assert.doesNotMatch(log, /node24|node:internal|\/tmp\//)
  writeFileSync(
    path,
    "import { fail } from './part.ts'\nconst fine: number = 1\nfail()\nexport default fine\n",
  )
  const failed = await sharedErgon().cli('fn', 'deploy', path)
  assert.match(
    failed.stderr,
    /Could not start version 2 of whole: part\.ts:3: TypeError: of the part/,
  )
})

test('the end of a process is in the log, with its cause', async () => {
  await deploy(
    'ends',
    `export default (request) => {
       const { pathname } = new URL(request.url)
       if (pathname.endsWith('/exit')) process.exit(7)
       if (pathname.endsWith('/abort')) process.abort()
       const kept = []
       for (;;) kept.push(Buffer.alloc(8_000_000, 1))
     }`,
    { memory: '96MB' },
  )
  const ended = async (path: string, words: RegExp) => {
    assert.equal((await textAt(path, { method: 'POST' }))[0], 502)
    await until(
      () => logsOf('ends'),
      (text) => words.test(text),
    )
  }
  await ended('/ends/exit', /error - +The process ended: exit code 7/)
  await ended('/ends/abort', /The process ended: SIG(ABRT|TRAP|ILL)/)
  if (!/memory limit none/.test(sharedErgon().stderr()))
    await ended('/ends/memory', /The process ended: it needed more than its memory/)
})
