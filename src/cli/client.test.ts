import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ERRORS } from '#contract/errors.ts'
import { apiGet, apiPostOnce, unreachable } from './client.ts'
import { EXIT, type CommandError } from './output.ts'

async function serve(t: TestContext, answer: RequestListener): Promise<{ baseUrl: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return { baseUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
}

test('apiGet() says so when an answer breaks off after its head', async (t) => {
  const options = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('four', () => response.socket?.resetAndDestroy())
  })
  await assert.rejects(apiGet(options, '/v1/usage', { public: true }), {
    message: /^Could not reach .*\/v1\/usage: /,
  })
})

test('an answer of the ingress, which has no such route, is not the API', async (t) => {
  const options = await serve(t, (_, response) => {
    response.writeHead(404, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ title: 'route_not_found', detail: 'Could not find a route' }))
  })
  await assert.rejects(apiGet(options, '/v1/functions', { public: true }), {
    message: `This is not the API: ${options.baseUrl}`,
  })
})

/** A tile of the log is no text. */
const BYTES = Buffer.from([0x61, 0xff])

test('apiGet() gives the status, the text and its bytes, and what a refusal says', async (t) => {
  const options = await serve(t, ({ url }, response) => {
    if (url === '/good') return void response.end(BYTES)
    response.writeHead(402, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ detail: 'No money', instance: 'req_1' }))
  })
  const { status, text, bytes, headers } = await apiGet(options, '/good', { public: true })
  assert.deepEqual([status, text, bytes], [200, 'a\uFFFD', BYTES])
  assert.equal(headers['content-length'], '2')
  await assert.rejects(apiGet(options, '/bad', { public: true }), {
    message: 'No money',
    requestId: 'req_1',
    exitCode: EXIT.payment,
  })
})

test('a refusal has one next step: that of the command line, else the advice of the service', async (t) => {
  const refusals: Readonly<Record<string, readonly [number, object]>> = {
    '/scope': [403, { title: 'scope_missing', scope: 'deploy' }],
    '/name': [404, { title: 'function_not_found' }],
    '/fault': [500, { title: 'internal' }],
  }
  const options = await serve(t, ({ url = '' }, response) => {
    const [status, more] = refusals[url] ?? [404, {}]
    const { title } = more as { title: keyof typeof ERRORS }
    response.writeHead(status, { 'content-type': 'application/problem+json' })
    const detail = `No. ${ERRORS[title].help}`
    response.end(JSON.stringify({ ...more, detail, instance: 'req_1' }))
  })
  const refused = (path: string) =>
    apiGet(options, path, { public: true }).then(
      () => assert.fail(path),
      ({ message, next }: CommandError) => [message, next?.split(',')[0]],
    )
  assert.deepEqual(await refused('/scope'), [
    'No',
    `ergon login --base-url ${options.baseUrl} --scope deploy`,
  ])
  assert.deepEqual(await refused('/name'), ['No. Check the name: `ergon fn list`.', undefined])
  assert.match(String((await refused('/fault'))[0]), /^No\. .* \(req_1\)$/)
})

test('an address that does not answer is started on this machine, and corrected elsewhere', () => {
  const away = Object.assign(new Error('away'), { code: 'ENOTFOUND' })
  const nextOf = (url: string) => unreachable(url, away).next ?? ''
  for (const own of ['http://localhost:1/v1', 'http://127.0.0.1:1/v1', 'http://[::1]:1/v1'])
    assert.match(nextOf(own), /npm start/, own)
  for (const other of [
    'https://cloud.example/v1',
    'http://192.0.2.7:1/v1',
    'http://[2001:db8::7]/',
  ])
    assert.match(nextOf(other), /^check the address/, other)
})

test('apiGet() fails with the code of payment when free joules are used up, not when too much is asked at once', async (t) => {
  const options = await serve(t, ({ url }, response) => {
    response.writeHead(429, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ title: url?.slice(1), detail: 'No' }))
  })
  const exitCodes = { free_tier_exceeded: EXIT.payment, too_many_requests: EXIT.failed }
  for (const [code, exitCode] of Object.entries(exitCodes))
    await assert.rejects(apiGet(options, `/${code}`, { public: true }), { exitCode })
})

const problem =
  (status: number, title: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ title, detail: 'No' }))
  }

const ONCE = { public: true, look: 'ergon payments' }

/** The keys of the requests, which are answered in turn. */
async function serveInTurn(t: TestContext, answers: readonly RequestListener[]) {
  const keys: unknown[] = []
  const options = await serve(t, (request, response) => {
    const answer = answers[keys.push(request.headers['idempotency-key']) - 1]
    request.resume().once('end', () => answer?.(request, response))
  })
  return { post: () => apiPostOnce(options, '/v1/topups', {}, ONCE), keys }
}

test('apiPostOnce() asks again under one key while the outcome is not known', async (t) => {
  const { post, keys } = await serveInTurn(t, [
    (request) => request.socket.destroy(),
    problem(409, 'idempotency_in_progress'),
    problem(503, 'payment_processor_away'),
    (_, response) => void response.writeHead(201).end('{}'),
  ])
  assert.equal((await post()).status, 201)
  assert.equal(keys.length, 4)
  assert.equal(new Set(keys).size, 1)
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/)
})

test('apiPostOnce() asks once where the outcome is known, or nothing was sent', async (t) => {
  const { post, keys } = await serveInTurn(t, [problem(402, 'payment_declined')])
  const refused = { code: 'payment_declined', message: 'No' }
  await assert.rejects(post(), refused)
  assert.equal(keys.length, 1)
  const away = { baseUrl: 'http://127.0.0.1:1' }
  await assert.rejects(apiPostOnce(away, '/v1/topups', {}, ONCE), {
    code: 'unreachable',
    isUnsent: true,
  })
})

test('apiPostOnce() gives up after some attempts, and says that it may still be done', async (t) => {
  const { post, keys } = await serveInTurn(
    t,
    Array.from({ length: 9 }, () => problem(503, 'payment_processor_away')),
  )
  await assert.rejects(post(), {
    code: 'payment_processor_away',
    message: 'No. It may still be done: look before you ask again',
    next: 'ergon payments',
  })
  assert.equal(keys.length, 5)
})

test('apiGet() says where the API is when a portal or a page answers in its place', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'ergon-client-'))
  t.after(() => rm(data, { recursive: true }))
  await writeFile(join(data, 'ergon.json'), JSON.stringify({ port: 23000, runFolder: data }))
  const { baseUrl } = await serve(t, ({ url }, response) => {
    // The first is what the portal answers at localhost.
    if (url === '/portal')
      response.writeHead(307, {
        location: 'http://portal.localhost/',
        'content-type': 'text/plain',
      })
    if (url === '/page') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    if (url === '/words') response.writeHead(200, { 'content-type': 'text/plain' })
    if (url === '/none') response.writeHead(404, { 'content-type': 'text/html' })
    if (url === '/proxy') response.writeHead(502, { 'content-type': 'text/html' })
    response.end('http://portal.localhost\n')
  })
  const asked = (path: string, more = {}) =>
    apiGet({ baseUrl, data }, path, { public: true, ...more })
  const refused = {
    message: `This is not the API: ${baseUrl}`,
    next: '--base-url http://localhost:23000',
  }
  for (const path of ['/portal', '/page', '/words', '/none'])
    await assert.rejects(asked(path), refused, path)
  await assert.rejects(asked('/portal', { accept: '*/*' }), refused)
  await assert.rejects(asked('/proxy'), { message: 'The service answered 502' })
  assert.equal((await asked('/words', { accept: 'text/csv' })).status, 200)
  // The place of the data folder is asked itself.
  await writeFile(join(data, 'ergon.json'), JSON.stringify({ port: new URL(baseUrl).port }))
  await assert.rejects(asked('/portal'), { next: 'give the address of the API with --base-url' })
})

test('names below localhost are this machine', async (t) => {
  const { baseUrl } = await serve(t, (_, response) => void response.end('{}'))
  const named = baseUrl.replace('127.0.0.1', 'portal.localhost')
  assert.equal((await apiGet({ baseUrl: named }, '/', { public: true })).text, '{}')
})

test('apiGet() names the login at the given address, with the scope that is missing', async (t) => {
  const options = await serve(t, ({ url }, response) => {
    const isScope = url === '/scope'
    response.writeHead(isScope ? 403 : 401, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ detail: 'No', ...(isScope && { scope: 'billing-admin' }) }))
  })
  const login = `ergon login --base-url ${options.baseUrl}`
  await assert.rejects(apiGet(options, '/token', { public: true }), {
    next: `${login}, or set ERGON_TOKEN`,
  })
  await assert.rejects(apiGet(options, '/scope', { public: true }), {
    next: `${login} --scope billing-admin, or the operator makes a token: ergon admin token create --scope billing-admin`,
  })
})
