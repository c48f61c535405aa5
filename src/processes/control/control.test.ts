import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { newEncryptionKey } from '#base/encryption.ts'
import { createLogger, Secret } from '#base/log.ts'
import { startControl } from './control.ts'
import { modelRoutes } from './models.ts'

type Answer = { readonly status: number; readonly code: string; readonly message: string }

/** The operator's door with the operations on models; none of these calls gets as far as a model. */
async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-control-'))
  const socket = join(folder, 'control.sock')
  const logged: string[] = []
  const untouched = new Proxy({}, { get: (_, name) => assert.fail(`${String(name)} was used`) })
  const control = await startControl({
    socket,
    routes: modelRoutes({
      fleet: untouched as never,
      state: untouched as never,
      confirmed: async () => undefined,
      modelsFolder: folder,
      key: new Secret(newEncryptionKey()),
    }),
    log: createLogger('test', { write: (line) => logged.push(line) }),
  })
  t.after(async () => {
    await control.close()
    rmSync(folder, { recursive: true })
  })
  const add = async (body: string): Promise<Answer> => {
    const call = request({ socketPath: socket, method: 'POST', path: '/models' })
    call.end(body)
    const [response] = await once(call, 'response')
    const { error } = JSON.parse(await text(response)) as { error: Omit<Answer, 'status'> }
    return { status: response.statusCode, code: error.code, message: error.message }
  }
  return { socket, add, logged }
}

test('control.sock is its owner’s alone', async (t) => {
  const { socket } = await start(t)
  assert.equal(statSync(socket).mode & 0o777, 0o600)
})

test('what an operator gets wrong is said, and is no failure of ours', async (t) => {
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
  for (const body of ['null', '"text"', '7', '{']) await refused(add(body), 'invalid_json', body)
  assert.deepEqual(logged, [])
})

test('what is no GGUF file is refused before a process is started with it', async (t) => {
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

test('the zone of a server is one that is built in', async (t) => {
  const { add } = await start(t)
  const server = { upstream: 'http://models.example/v1', upstream_model: 'a' }
  for (const carbon_zone of ['Narnia', '', 7])
    assert.match(
      await refused(add(JSON.stringify({ ...server, carbon_zone })), 'invalid_request', 'zone'),
      /"carbon_zone" is one of .*\bFR\b/,
    )
})
