// Requests to functions: the forms of handlers, and code that throws, never answers or ends its process.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { BRIEF_FUNCTIONS } from '../settings.ts'
import { functionClient, until } from './function-client.ts'

product(BRIEF_FUNCTIONS)
const { deploy, textAt, logsOf, url } = functionClient(sharedErgon)

test('all three forms of handlers answer, and bodies are streamed both ways', async () => {
  await deploy('plain', 'export default async (request, ctx) => new Response(await request.text())')
  assert.deepEqual(await textAt('/plain', { method: 'POST', body: 'x'.repeat(200_000) }), [
    200,
    'x'.repeat(200_000),
  ])
  await deploy(
    'lambda',
    `export const handler = async (event, context) => ({
       statusCode: 201,
       headers: { 'x-own': event.requestContext.http.method },
       body: event.body + event.rawPath,
     })`,
  )
  assert.deepEqual(await textAt('/lambda/x', { method: 'POST', body: 'b' }), [201, 'b/lambda/x'])
  await deploy(
    'slow',
    `export default () => new Response(new ReadableStream({
       async start(controller) {
         for (const part of ['a', 'b']) {
           controller.enqueue(new TextEncoder().encode(part))
           await new Promise((resolve) => setTimeout(resolve, 300))
         }
         controller.close()
       },
     }), { headers: { 'content-type': 'text/event-stream' } })`,
  )
  const answer = await fetch(`${url()}/slow`)
  const reader = answer.body?.getReader()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'a')
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'b')
  assert.deepEqual(await textAt('/slow', { method: 'HEAD' }), [200, ''])
  assert.doesNotMatch(await logsOf('slow'), /TRAILER/)
})

test('one address does not hold all connections, and silent ones are cut', async () => {
  const { port, hostname } = new URL(url())
  const many = Array.from({ length: 250 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    // A connection without any byte is closed without an answer.
    socket.write('G')
    return socket.resume()
  })
  await until(
    () => Promise.resolve(many.filter(({ destroyed }) => !destroyed).length),
    (count) => count === 0,
  )
  // A head that comes late is answered with 408. A connection beyond the share of its address reads nothing.
  const refused = many.filter(({ bytesRead }) => bytesRead === 0).length
  assert.ok(refused >= 50 && refused < 150, `${refused} refused`)
  assert.equal((await textAt('/plain'))[0], 200)
})

test('code that throws, never answers or ends its process gets an answer for its caller', async () => {
  await deploy(
    'rough',
    `export default (request) => {
       const { pathname } = new URL(request.url)
       if (pathname.endsWith('/throw')) throw new Error('of the function')
       if (pathname.endsWith('/exit')) process.exit(7)
       if (pathname.endsWith('/never')) return new Promise(() => {})
       return new Response('fine')
     }`,
    { timeout_s: 1 },
  )
  const [thrown, words] = await textAt('/rough/throw')
  assert.equal(thrown, 502)
  assert.ok(!words.includes('of the function'))
  const [never, late] = await textAt('/rough/never')
  assert.equal(never, 504)
  assert.match(late, /function_timeout/)
  const [ended, crash] = await textAt('/rough/exit')
  assert.equal(ended, 502)
  assert.match(crash, /function_crashed/)
  assert.deepEqual(await textAt('/rough'), [200, 'fine'])
  await until(
    () => logsOf('rough'),
    (text) => /error req_\w+ Error: of the function/.test(text),
  )
})

test('code that blocks its process is ended after the time of its request', async () => {
  await deploy(
    'blocked',
    `export default (request) => {
       if (new URL(request.url).pathname.endsWith('/loop')) for (;;);
       return new Response('fine')
     }`,
    { timeout_s: 1 },
  )
  const beganMs = performance.now()
  assert.equal((await textAt('/blocked/loop'))[0], 504)
  await until(
    () => textAt('/blocked'),
    ([status]) => status === 200,
  )
  // The watch alone would take the time of the request and 15 s more.
  assert.ok(performance.now() - beganMs < 12_000)
  await until(
    () => logsOf('blocked'),
    (text) => text.includes('The process ended: it did not answer any more'),
  )
})
