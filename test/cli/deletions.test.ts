// The confirmation of deletions of functions, workloads and databases, at a service that answers as the test says.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { PROGRAM } from './command-line.ts'
import { openTerminal } from './terminal.ts'

const VOLUME = { name: 'data', used_bytes: 5e6 }
const NAMED = JSON.stringify({
  name: 'hello',
  id: 'db_1',
  restorable_until: null,
  restorable: [],
  data: [],
  volumes: [VOLUME],
})
const KINDS = [
  { words: ['fn', 'delete'], path: '/v1/functions/hello', loss: 'its versions and its log' },
  { words: ['delete'], path: '/v1/workloads/hello', loss: 'its volumes: data \\(5 MB\\)' },
  { words: ['db', 'delete'], path: '/v1/databases/hello', loss: 'all its data' },
]

let server: Server
let deleted: string[] = []
before(async () => {
  server = createServer(({ method, url = '' }, response) => {
    if (method === 'DELETE') deleted.push(url)
    const isThere = url.includes('/hello')
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' })
    response.end(isThere ? NAMED : '{"detail":"Could not find it"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => server.close())

function environment() {
  const { port } = server.address() as { port: number }
  const token = `svc_${'a'.repeat(38)}`
  const ERGON_BASE_URL = `http://127.0.0.1:${port}`
  return { PATH: process.env['PATH'] ?? '', ERGON_BASE_URL, ERGON_TOKEN: token }
}

async function ergon(...words: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...words], { env: environment() })
  const [told, [code]] = await Promise.all([
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
  ])
  return { told, code }
}

for (const { words, path, loss } of KINDS) {
  const typed = words.join(' ')

  test(`ergon ${typed} without a terminal names the flag, and deletes nothing`, async () => {
    deleted = []
    for (const more of [[], ['--json']]) {
      const { told, code } = await ergon(...words, 'hello', ...more)
      assert.equal(code, 2)
      assert.match(told, new RegExp(`would be deleted[^]*${loss}[^]*ergon ${typed} hello --yes`))
    }
    assert.deepEqual(deleted, [])
    assert.match((await ergon(...words, 'absent')).told, /Could not find it/)
  })

  test(`ergon ${typed} with --yes or --force asks nothing`, async () => {
    deleted = []
    for (const flag of ['--yes', '--force']) {
      const { told, code } = await ergon(...words, 'hello', flag)
      assert.equal(code, 0, told)
    }
    assert.deepEqual(deleted, [path, path])
  })

  test(`ergon ${typed} on a terminal deletes once the name is typed`, async () => {
    deleted = []
    await using unsure = openTerminal([...words, 'hello'], environment())
    await unsure.shows(new RegExp(`${loss}[^]*Type the name to confirm: `))
    unsure.press('y\r')
    assert.equal(await unsure.ended(), 1)
    assert.match(unsure.text(), /Nothing was deleted: the name was not typed/)
    assert.deepEqual(deleted, [])
    await using sure = openTerminal([...words, 'hello'], environment())
    await sure.shows(/Type the name to confirm: /)
    sure.press('hello\r')
    assert.equal(await sure.ended(), 0)
    assert.deepEqual(deleted, [path])
  })
}
