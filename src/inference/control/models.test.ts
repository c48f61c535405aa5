import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { newEncryptionKey } from '#base/encryption.ts'
import { createLogger, Secret } from '#base/log.ts'
import type { ModelFleet, NewModel } from '#inference/models/fleet.ts'
import { startControl } from '#node/control/control.ts'
import { modelHandlers } from './models.ts'

type Answer = { readonly status: number; readonly code: string; readonly message: string }

/** The operator's API with the operations on models; any other call fails the test. */
async function start(t: TestContext, fleet?: Pick<ModelFleet, 'add'>) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-control-'))
  const socket = join(folder, 'control.sock')
  const logged: string[] = []
  const untouched = new Proxy({}, { get: (_, name) => assert.fail(`${String(name)} was used`) })
  const control = await startControl({
    socket,
    handlers: modelHandlers({
      fleet: (fleet ?? untouched) as never,
      state: untouched as never,
      confirmed: async () => undefined,
      modelsFolder: folder,
      key: new Secret(newEncryptionKey()),
      operator: 'acme',
    }),
    log: createLogger('test', { write: (line) => logged.push(line) }),
  })
  t.after(async () => {
    await control.close()
    rmSync(folder, { recursive: true })
  })
  const add = async (body: string): Promise<Answer> => {
    const call = request({ socketPath: socket, method: 'POST', path: '/model.add' })
    call.end(body)
    const [response] = await once(call, 'response')
    const { error } = JSON.parse(await text(response)) as { error?: Omit<Answer, 'status'> }
    const { code = '', message = '' } = error ?? {}
    return { status: response.statusCode, code, message }
  }
  return { socket, add, logged }
}

test('control.sock is its owner’s alone', async (t) => {
  const { socket } = await start(t)
  assert.equal(statSync(socket).mode & 0o777, 0o600)
})

test('mistakes of an operator are named, and are no failures of ours', async (t) => {
  const { add, logged } = await start(t)
  for (const upstream of [
    '',
    'nowhere',
    'file:///etc/passwd',
    'https://me:secret@models.example/v1',
  ])
    await refused(
      add(JSON.stringify({ upstream, upstream_model: 'a' })),
      'invalid_request',
      upstream,
    )
  for (const body of ['null', '"text"', '7']) await refused(add(body), 'invalid_request', body)
  await refused(add('{'), 'invalid_json', '{')
  assert.deepEqual(logged, [])
})

test('a member of another type is refused by name', async (t) => {
  const { add } = await start(t)
  for (const body of [{ context: '7' }, { operator: 7 }, { tier: 'L9' }, { nj_per_token: 5 }])
    assert.match(
      await refused(add(JSON.stringify({ default: 'any', ...body })), 'invalid_request', 'member'),
      new RegExp(`^Could not accept ${Object.keys(body)[0]}: must be`),
    )
})

test('a member that no operation knows is refused before anything is done', async (t) => {
  const { add } = await start(t)
  const { status, code, message } = await add(JSON.stringify({ default: 'any', context_size: 512 }))
  assert.deepEqual([status, code], [400, 'invalid_request'])
  assert.match(
    message,
    /context_size: it is not known here; there are default, file, pull.* context,/,
  )
})

test('a file that is no GGUF is refused before a process is started with it', async (t) => {
  const { add, socket } = await start(t)
  const folder = dirname(socket)
  const files: [name: string, why: RegExp][] = [
    ['empty.gguf', /it does not begin with GGUF/],
    ['short.gguf', /it does not begin with GGUF/],
    ['text.gguf', /it does not begin with GGUF/],
    ['', /it is no regular file/],
    ['control.sock', /it is no regular file/],
    ['/dev/zero', /it is no regular file/],
    ['absent.gguf', /ENOENT/],
  ]
  writeFileSync(join(folder, 'empty.gguf'), '')
  writeFileSync(join(folder, 'short.gguf'), 'GGU')
  writeFileSync(join(folder, 'text.gguf'), 'A model, said the file')
  for (const [name, why] of files) {
    const file = resolve(folder, name)
    const message = await refused(add(JSON.stringify({ file })), 'invalid_request', name)
    assert.ok(message.startsWith(`Could not use the file ${file}: `), message)
    assert.match(message, why)
  }
})

async function refused(answer: Promise<Answer>, code: string, what: string): Promise<string> {
  const { status, message, ...rest } = await answer
  assert.deepEqual([status, rest.code], [400, code], `${what}: ${message}`)
  return message
}

test('images and sound are declared where something can take them', async (t) => {
  const { add, socket } = await start(t)
  const file = join(dirname(socket), 'model.gguf')
  writeFileSync(file, 'GGUF')
  const server = { upstream: 'http://models.example/v1', upstream_model: 'a', embedding: true }
  for (const input of ['image', 'audio'])
    for (const body of [{ file }, server])
      assert.match(
        await refused(add(JSON.stringify({ ...body, [input]: true })), 'invalid_request', input),
        /takes text only/,
      )
})

test('options for servers are refused for files, and those for files are refused for servers', async (t) => {
  const { add, socket } = await start(t)
  const file = join(dirname(socket), 'model.gguf')
  writeFileSync(file, 'GGUF')
  const pull = { pull: 'https://models.example/m.gguf', sha256: '0'.repeat(64) }
  const known = { default: 'smollm2-135m-instruct' }
  const ofServers = {
    nj_per_token: '5',
    carbon_zone: 'FR',
    prompt_overhead_tokens: 9,
    upstream_model: 'a',
    api_key: 'secret',
    operator: 'a',
    region: 'eu-1',
    silicon: 'h100',
  }
  for (const [name, value] of Object.entries(ofServers))
    for (const body of [{ file }, pull, known])
      assert.match(
        await refused(add(JSON.stringify({ ...body, [name]: value })), 'invalid_request', name),
        new RegExp(`^Could not add the model: "${name}" is for servers`),
      )
  for (const [name, value] of Object.entries({ name: 'b', tier: 'L2', context: 9, tools: true }))
    assert.match(
      await refused(add(JSON.stringify({ ...known, [name]: value })), 'invalid_request', name),
      new RegExp(`^Could not add the model: "${name}" is for files and servers`),
    )
})

test('a file is expected to take more the larger it is, until its charges tell', async (t) => {
  const added: NewModel[] = []
  const { add, socket } = await start(t, { add: async (model) => void added.push(model) })
  const file = join(dirname(socket), 'model.gguf')
  writeFileSync(file, 'GGUF')
  for (const bytes of [4, 4_000_000_000]) {
    truncateSync(file, bytes)
    assert.equal((await add(JSON.stringify({ file }))).status, 200)
  }
  assert.deepEqual(
    added.map(({ offer }) => [offer.njPerPromptToken, offer.njPerCompletionToken]),
    [
      ['16000000', '32000000'],
      ['666666666', '1333333333'],
    ],
  )
})

test('no model is named auto: nobody could ask for it', async (t) => {
  const { add } = await start(t)
  const upstream = 'http://models.example/v1'
  for (const body of [
    { upstream, upstream_model: 'a', name: 'auto' },
    { upstream, upstream_model: 'Auto' },
  ])
    assert.match(
      await refused(add(JSON.stringify(body)), 'invalid_request', 'auto'),
      /"auto" asks the router.*--name/,
    )
})

test('a server is added by an address that says nothing else', async (t) => {
  const { add } = await start(t, { add: async () => assert.fail('it is added') })
  for (const upstream of [
    'http://localhost:9/v1#@example.org',
    'http://localhost:9/v1?a=b',
    'http://a:b@localhost:9/v1',
    'ftp://localhost/v1',
    'localhost',
  ])
    await refused(
      add(JSON.stringify({ upstream, upstream_model: 'a' })),
      'invalid_request',
      'upstream',
    )
})

test('customers are told of a server what was declared of it, never its address', async (t) => {
  const added: NewModel[] = []
  const { add } = await start(t, { add: async (model) => void added.push(model) })
  const server = { upstream: 'http://localhost:9/v1', upstream_model: 'a' }
  const declared = { operator: 'lambda', region: 'us-west', silicon: 'h100' }
  for (const more of [{}, { region: 'eu-1' }, declared])
    assert.equal((await add(JSON.stringify({ ...server, ...more }))).status, 200)
  assert.deepEqual(
    added.map((model) => ['routedTo' in model && model.routedTo, model.offer.ownedBy]),
    [
      ['acme/unknown/unknown', 'operator'],
      ['acme/eu-1/unknown', 'operator'],
      ['lambda/us-west/h100', 'lambda'],
    ],
  )
  for (const name of Object.keys(declared))
    for (const value of ['', 'a/b', 'a b', 'é'])
      assert.match(
        await refused(add(JSON.stringify({ ...server, [name]: value })), 'invalid_request', name),
        new RegExp(`"${name}" must be letters`),
      )
})

test('the zone of a server is one that is built in', async (t) => {
  const { add } = await start(t)
  const server = { upstream: 'http://models.example/v1', upstream_model: 'a' }
  for (const carbon_zone of ['Narnia', ''])
    assert.match(
      await refused(add(JSON.stringify({ ...server, carbon_zone })), 'invalid_request', 'zone'),
      /"carbon_zone" is one of .*\bFR\b/,
    )
})
