// The walls and limits of code in functions: it reaches nothing of the machine, and takes no more than its share.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROXY_VARIABLES } from '#node/egress.ts'
import { product, sharedErgon } from '../product.ts'
import { BRIEF_FUNCTIONS } from '../settings.ts'
import { functionClient, testFiles, until } from './function-client.ts'

product(BRIEF_FUNCTIONS)
const { deploy, textAt, logsOf } = functionClient(sharedErgon)
const fileOf = testFiles()

/** ERGON_LONG=1: more processes. */
const IS_LONG = process.env['ERGON_LONG'] === '1'

test('code reaches no file, process, variable, port or network of the machine', async () => {
  const probe = `
    import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
    import { connect } from 'node:net'
    const tried = (act) => { try { return act() } catch (error) { return error.code } }
    const dial = (to) => new Promise((resolve) => {
      const socket = connect(to, () => resolve('open'))
      socket.once('error', ({ code }) => resolve(code))
    })
    export default async (request) => Response.json({
      ...await request.json().then(async ({ files, folders, ports, sockets }) => ({
        files: files.map((file) => tried(() => readFileSync(file).length)),
        folders: folders.map((folder) => tried(() => readdirSync(folder).length)),
        ports: await Promise.all(ports.map((port) => dial({ host: '127.0.0.1', port }))),
        sockets: await Promise.all(sockets.map((path) => dial({ path }))),
      })),
      // No route, so no address of another machine either; none is dialled, also where the namespace should be missing.
      routes: readFileSync('/proc/net/route', 'utf8').trim().split('\\n').length - 1,
      interfaces: readFileSync('/proc/net/dev', 'utf8').trim().split('\\n').length - 2,
      processes: readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
      variables: Object.keys(process.env).toSorted(),
      writes: ['/usr/x', '/x', '/etc/x', '/var/x'].map((file) => tried(() => writeFileSync(file, 'x'))),
      privileges: readFileSync('/proc/self/status', 'utf8').match(/CapEff:.*|NoNewPrivs:.*|Seccomp:.*/g),
      first: tried(() => readFileSync('/proc/1/environ').length),
      // The list is a folder itself, and closed when its entries are looked at.
      files_open: readdirSync('/proc/self/fd').filter((fd) => {
        const found = statSync('/proc/self/fd/' + fd, { throwIfNoEntry: false })
        return found?.isFile() || found?.isDirectory() || found?.isBlockDevice()
      }),
    })`
  await deploy('probe', probe)
  const asked = {
    files: [
      join(sharedErgon().dataFolder, 'sharedErgon().json'),
      '/etc/passwd',
      '/etc/shadow',
      fileOf('x.txt', 'x'),
    ],
    folders: [sharedErgon().dataFolder, '/home', '/root', '/var', '/srv', '/sys'],
    // The portal and the status page; a way out leads to the ports of the API, of functions and of databases.
    ports: [sharedErgon().port + 1, sharedErgon().port + 4, 22],
    sockets: [
      join(sharedErgon().runFolder, 'control.sock'),
      join(sharedErgon().runFolder, 'fn-agent', 'awake.sock'),
      join(sharedErgon().runFolder, 'state', 'postgres', '.s.PGSQL.5432'),
    ],
  }
  const [status, text] = await textAt('/probe', { method: 'POST', body: JSON.stringify(asked) })
  assert.equal(status, 200, text)
  const seen = JSON.parse(text) as Record<string, unknown>
  const isRefused = (code: unknown) => code === 'ENOENT' || code === 'EACCES'
  const list = (name: string) => seen[name] as unknown[]
  assert.ok(list('files').every(isRefused), text)
  assert.ok(
    list('folders').every((count) => count === 0 || isRefused(count)),
    text,
  )
  assert.ok(
    list('ports').every((code) => code === 'ECONNREFUSED'),
    text,
  )
  // The loopback of its own.
  assert.deepEqual([seen['routes'], seen['interfaces']], [0, 1])
  assert.ok(list('sockets').every(isRefused), text)
  assert.ok(
    list('writes').every((code) => code === 'EROFS' || isRefused(code)),
    text,
  )
  assert.deepEqual(
    [seen['processes'], seen['variables']],
    [1, Object.keys(PROXY_VARIABLES).toSorted()],
  )
  assert.deepEqual(seen['privileges'], [
    'CapEff:\t0000000000000000',
    'NoNewPrivs:\t1',
    'Seccomp:\t2',
  ])
  assert.equal(seen['first'], 'ENOENT')
  assert.deepEqual(seen['files_open'], [])
})

test('code that takes all memory, or starts processes without end, harms itself alone', async () => {
  await deploy(
    'greedy',
    `import { spawn } from 'node:child_process'
     export default async (request) => {
       if (new URL(request.url).pathname.endsWith('/memory')) {
         const kept = []
         for (;;) kept.push(Buffer.alloc(8_000_000, 1))
       }
       let failed = 0
       for (let count = 0; count < ${IS_LONG ? 2000 : 100}; count++)
         spawn('/bin/sleep', ['20']).on('error', () => failed++)
       await new Promise((resolve) => setTimeout(resolve, 300))
       return new Response(String(failed))
     }`,
    { memory: '96MB', timeout_s: 20 },
  )
  await deploy('beside', "export default () => new Response('fine')")
  const [status, failed] = await textAt('/greedy/forks')
  assert.equal(status, 200)
  assert.ok(Number(failed) > 30, failed)
  if (!/memory limit none/.test(sharedErgon().stderr()))
    assert.equal((await textAt('/greedy/memory'))[0], 502)
  assert.deepEqual(await textAt('/beside'), [200, 'fine'])
})

test('a log keeps its newest lines, and says what was dropped', async () => {
  await deploy(
    'noisy',
    `export default () => {
       for (let line = 0; line < 1500; line++) console.log('x'.repeat(8000))
       console.log('the last line')
       return new Response('written')
     }`,
  )
  assert.deepEqual(await textAt('/noisy'), [200, 'written'])
  await until(
    () => logsOf('noisy'),
    (text) => /lines were dropped/.test(text),
  )
  const [{ bytes = '0' } = {}] = await sharedErgon().sql(
    'select coalesce(sum(length(text)), 0) as bytes from resource_logs',
  )
  assert.ok(Number(bytes) < 2_000_000, String(bytes))
})
