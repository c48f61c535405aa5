// Routes of description files to functions, as their users have them: deployed, asked by Host, rolled back, suspended, moved
// by other means, destroyed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { functionClient, until } from '../functions/function-client.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'

product(PLAIN)

let ergon: Ergon
let folder: string
before(() => {
  ergon = sharedErgon()
  folder = mkdtempSync(join(tmpdir(), 'ergon-routes-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

const { api } = functionClient(() => ergon)
const HOST = 'hello.example.com'
const STACK = `function "routed" {
  file = "routed.ts"
}

route "${HOST}" {
  to = function.routed
}

output "address" {
  value = route["${HOST}"].url
}
`
const code = (text: string) =>
  `export default (request: Request) => new Response(${JSON.stringify(text)} + ' at ' + new URL(request.url).host.split(':')[0] + new URL(request.url).pathname)\n`

function write(description: string, text = 'one'): string {
  writeFileSync(join(folder, 'routed.ts'), code(text))
  writeFileSync(join(folder, 'ergon.hcl'), description)
  return join(folder, 'ergon.hcl')
}
const cli = (...words: readonly string[]) => ergon.cli(...words)
const deploy = async (description: string, text?: string) => {
  const made = await cli('deploy', '--file', write(description, text), '--yes')
  assert.equal(made.code, 0, made.stderr)
  return made
}
const plan = (description: string, text?: string) => cli('plan', '--file', write(description, text))

/** Asks the ingress with that Host. */
async function ask(path: string, headers: Readonly<Record<string, string>> = {}, host = HOST) {
  const { port } = new URL(String(ergon.ready['functions_url']))
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request({ host: '127.0.0.1', port, path, headers: { host, ...headers } }, resolve)
    .on('error', reject)
    .end()
  const answer = await promise
  return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer) }
}
const answers = (path: string, text: string) =>
  until(
    () => ask(path),
    (seen) => seen.text === text,
  )

test('a function answers at the host of its route, at all paths, with the figures of its energy', async () => {
  const planned = await plan(STACK)
  assert.match(planned.stdout, /^ {2}\+ route\.hello\.example\.com +to function\.routed$/m)
  const made = await deploy(STACK)
  assert.match(made.stdout, /^address +http:\/\/hello\.example\.com:\d+$/m)
  assert.equal((await ask('/')).text, 'one at hello.example.com/')
  const deep = await ask('/a/b?c=d')
  assert.equal(deep.text, 'one at hello.example.com/a/b')
  assert.ok(Number(deep.headers['x-energy-joules']) > 0, JSON.stringify(deep.headers))
  assert.match((await plan(STACK)).stdout, /nothing to change/)
  assert.match(
    (await cli('fn', 'show', 'routed')).stdout,
    /address .*\/routed, hello\.example\.com/,
  )
})

test('versions change and roll back below the host', async () => {
  await deploy(STACK, 'two')
  await answers('/', 'two at hello.example.com/')
  assert.equal((await cli('fn', 'rollback', 'routed')).code, 0)
  await answers('/', 'one at hello.example.com/')
})

test('a suspended function answers at its host with the reason', async () => {
  assert.equal((await cli('fn', 'suspend', 'routed')).code, 0)
  const page = await until(
    () => ask('/', { accept: 'text/html' }),
    ({ status }) => status === 503,
  )
  assert.match(page.text, /function_suspended/)
  assert.equal((await cli('fn', 'resume', 'routed')).code, 0)
  await answers('/', 'one at hello.example.com/')
})

test('a host that another account has is refused at its place, and by the API', async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account: id, scope: 'deploy' })
  const file = { file: 'f.mjs', source: "export default () => new Response('theirs')" }
  const theirs = await fetch(`${ergon.baseUrl}/v1/functions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'theirs', routes: [HOST], ...file }),
  })
  const { error } = (await theirs.json()) as { readonly error: { readonly code: string } }
  assert.deepEqual([theirs.status, error.code], [409, 'host_taken'])
  const own = await api('PATCH', '/routed', { routes: [HOST, 'a.portal.localhost'] })
  assert.equal(own.status, 409)
  const wrong = await api('PATCH', '/routed', { routes: ['Not A Host'] })
  assert.equal(wrong.status, 400)
  const { code: refused, stderr } = await plan(STACK.replaceAll(HOST, 'a.portal.localhost'))
  assert.equal(refused, 1)
  assert.match(stderr, /ergon\.hcl:5:1: .*a\.portal\.localhost is taken/)
})

test('a route that was taken away, or whose function was deleted, is made again', async () => {
  assert.equal((await api('PATCH', '/routed', { routes: [] })).status, 200)
  await until(
    () => ask('/'),
    ({ status }) => status === 404,
  )
  assert.match((await plan(STACK)).stdout, /\+ route\.hello.*it was deleted by other means/)
  await deploy(STACK)
  assert.equal((await cli('fn', 'delete', 'routed', '--yes')).code, 0)
  assert.match((await plan(STACK)).stdout, /\+ function\.routed.*deleted by other means/)
  await deploy(STACK)
  await answers('/', 'one at hello.example.com/')
})

test('fn deploy gives a function hosts, keeps them, and takes them away', async () => {
  const file = join(folder, 'hosted.ts')
  writeFileSync(file, code('hosted'))
  const fn = async (...words: readonly string[]) => {
    const { code: status, stderr } = await cli('fn', 'deploy', file, ...words)
    assert.equal(status, 0, stderr)
    return stderr
  }
  const [one, two] = ['one.example.com', 'two.example.com'] as const
  const made = await fn('--host', one, '--host', two)
  assert.match(made, /create hosted at \/hosted \(hosts one\.example\.com, two\.example\.com\)/)
  for (const host of [one, two])
    assert.equal((await ask('/x', {}, host)).text, `hosted at ${host}/x`)
  await fn()
  assert.equal((await ask('/', {}, two)).status, 200)
  assert.match(await fn('--host', 'none'), /\(hosts none\)/)
  await until(
    () => ask('/', {}, one),
    ({ status }) => status === 404,
  )
  assert.equal((await cli('fn', 'delete', 'hosted', '--yes')).code, 0)
})

test('a route whose function left the file is refused, and destroy leaves no host', async () => {
  const route = STACK.slice(STACK.indexOf('route "'))
  const { code: refused, stderr } = await plan(route)
  assert.equal(refused, 1)
  assert.match(stderr, /ergon\.hcl:2:8: The file has no function routed/)
  write(STACK)
  const gone = await cli('destroy', '--file', join(folder, 'ergon.hcl'), '--yes')
  assert.equal(gone.code, 0, gone.stderr)
  await until(
    () => ask('/'),
    ({ status }) => status === 404,
  )
  const held = await ergon.sql('select from ingress_routes where host = $1', [HOST])
  assert.deepEqual(held, [])
})
