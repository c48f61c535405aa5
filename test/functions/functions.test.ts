// Functions as their owners use them: deployed from a file, called, asleep and awake, failing, suspended, rolled back.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { PROXY_VARIABLES } from '#node/egress.ts'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { functionClient, until } from './function-client.ts'

/** Of a command that fails soon. */
const WAIT_MS = 30_000
/** ERGON_LONG=1: half a gigabyte of log, and more processes. */
const IS_LONG = process.env['ERGON_LONG'] === '1'

let ergon: Ergon
let folder: string
let url: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-functions-'))
  ergon = await startErgon({ env: { ERGON_FUNCTION_IDLE_SECONDS: '1' } })
  url = String(ergon.ready['functions_url'])
})
after(async () => {
  await ergon?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const fileOf = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const { api, show, deploy, textAt, logsOf } = functionClient(() => ergon)

/** The process of a function; 0 while it sleeps. */
const pidOf = async (name: string): Promise<number> => {
  const { id, live_version: live } = await show(name)
  return await ergon.pidOf(`${id.replace('_', '-')}-${live}`).catch(() => 0)
}

test('fn deploy bundles a file, says what it does, and prints an address that answers', async () => {
  fileOf('greet.ts', 'export const greet = (name: string): string => `hello ${name}`\n')
  const file = fileOf(
    'hello.ts',
    `import { greet } from './greet.ts'
export default {
  fetch(request: Request, env: Record<string, string>, ctx: { requestId: string }) {
    console.log('asked for', new URL(request.url).pathname)
    return new Response(greet(env['WHO'] ?? '') + ' ' + ctx.requestId, { headers: { 'x-own': '1' } })
  },
}
`,
  )
  const words = ['--route', '/greetings', '--memory', '96MB', '--env', 'WHO=world']
  const { stdout, stderr, code } = await ergon.cli('fn', 'deploy', file, ...words)
  assert.equal(code, 0, stderr)
  assert.match(stderr, /create hello at \/greetings \(memory 96MB, variables WHO\)/)
  assert.equal(stdout.trim(), `${url}/greetings`)
  const answer = await fetch(`${url}/greetings/deep?x=1`)
  const id = answer.headers.get('x-request-id') ?? ''
  assert.equal(await answer.text(), `hello world ${id}`)
  assert.equal(answer.headers.get('x-own'), '1')
  assert.ok(Number(answer.headers.get('x-energy-joules')) > 0)
  assert.equal(answer.headers.get('x-energy-estimate'), 'share')
  const log = await until(
    () => logsOf('hello'),
    (text) => text.includes('asked for'),
  )
  assert.match(log, new RegExp(`info  ${id} asked for /greetings/deep`))
  assert.match((await ergon.cli('fn', 'list')).stdout, /^hello +deployed +node24 +96 MB +1 /m)
  assert.match((await ergon.cli('fn', 'show', 'hello')).stdout, /^variables +WHO$/m)
})

test('the name of the account in the host is the same address', async () => {
  const { port } = new URL(url)
  const host = `${ergon.account.replace('_', '-')}.functions.localhost:${port}`
  const status = await new Promise((resolve, reject) => {
    request({ port, path: '/greetings', headers: { host } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .once('error', reject)
      .end()
  })
  assert.equal(status, 200)
})

test('a fault of syntax is told with its line before anything is deployed', async () => {
  const file = fileOf('bad.ts', 'const fine = 1\nlet b c\n')
  const { stderr, code } = await ergon.cli('fn', 'deploy', file)
  assert.notEqual(code, 0)
  assert.match(stderr, /bad\.ts:2:7: Expected ";" but found "c"/)
  assert.equal((await api('GET', '/bad')).body.title, 'function_not_found')
})

test('requests that cannot be served are refused with the reason', async () => {
  const other = { name: 'other', file: 'index.mjs', source: 'export default 1' }
  const refused = async (more: object) => {
    const { status, body } = await api('POST', '', { ...other, ...more })
    return `${status} ${body.title}`
  }
  assert.equal(await refused({ runtime: 'python3.99' }), '422 runtime_unknown')
  assert.equal(await refused({ route: '/greetings' }), '409 route_taken')
  const words = await ergon.cli('fn', 'deploy', fileOf('other.mjs', ''), '--runtime', 'python3.99')
  assert.match(words.stderr, /there are: node24/)
  // A plan that was refused is none.
  assert.doesNotMatch(words.stderr, /create other/)
  const rollback = await api('POST', '/hello/rollback', { version: 9 })
  assert.equal(rollback.body.title, 'function_version_not_found')
  const [status, body] = await textAt('/nothing-is-here')
  assert.equal(status, 404)
  assert.match(body, /route_not_found/)
})

test('a version that cannot be loaded never answers; the one before goes on', async () => {
  await deploy('steady', "export default () => new Response('one')")
  const failed = await deploy('steady', "export default () => new Response('two')\nlet b c")
  assert.equal(failed.live_version, 1)
  assert.match(failed.reason ?? '', /version 2 cannot be started: index\.mjs:2: SyntaxError/)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
  const empty = await deploy('steady', 'export const nothing = 1')
  assert.match(empty.reason ?? '', /it exports no handler/)
  await deploy('steady', 'export const nothing = 2', { route: '/moved' })
  assert.equal((await textAt('/moved'))[0], 404)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
  await deploy('steady', "export default () => new Response('four')", { route: '/steady' })
  assert.deepEqual(await textAt('/steady'), [200, 'four'])
  const back = await ergon.cli('fn', 'rollback', 'steady', '--to', '1')
  assert.equal(back.code, 0, back.stderr)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
})

test('no request fails while a version follows another', async () => {
  const source = (word: string) => `
    export default async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return new Response('${word}')
    }`
  await deploy('rolling', source('one'))
  const answers: string[] = []
  const ending = new AbortController()
  const asking = Array.from({ length: 3 }, async () => {
    while (!ending.signal.aborted) answers.push((await textAt('/rolling')).join(' '))
  })
  await until(
    async () => answers.length,
    (count) => count > 3,
  )
  await deploy('rolling', source('two'))
  await until(
    async () => answers.at(-1),
    (answer) => answer === '200 two',
  )
  ending.abort()
  await Promise.all(asking)
  assert.deepEqual([...new Set(answers)], ['200 one', '200 two'])
})

test('requests of an old version end in their own time, beside the new one', async () => {
  const source = (word: string) => `
    export default async (request) => {
      if (new URL(request.url).pathname.endsWith('/slow'))
        await new Promise((resolve) => setTimeout(resolve, 4000))
      return new Response('${word}')
    }`
  await deploy('draining', source('one'))
  let isEnded = false
  const slow = textAt('/draining/slow').finally(() => (isEnded = true))
  await until(
    () => pidOf('draining'),
    (pid) => pid !== 0,
  )
  const oldPid = await pidOf('draining')
  await deploy('draining', source('two'))
  assert.deepEqual(await textAt('/draining'), [200, 'two'])
  assert.equal(isEnded, false)
  assert.deepEqual(await slow, [200, 'one'])
  const { id } = await show('draining')
  await until(
    () => ergon.pidOf(`${id.replace('_', '-')}-1`).catch(() => 0),
    (pid) => pid === 0,
  )
  assert.ok(oldPid > 0 && !existsSync(`/proc/${oldPid}`))
  const charged = await ergon.sql('select distinct resource from charges where operation = $1', [
    'function.standing',
  ])
  assert.ok(charged.every(({ resource }) => /^fn_[a-z0-9]+$/.test(String(resource))))
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
  // By the watch alone it took the time of the request and 15 s more.
  assert.ok(performance.now() - beganMs < 12_000)
  await until(
    () => logsOf('blocked'),
    (text) => text.includes('The process ended: it did not answer any more'),
  )
})

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
  const answer = await fetch(`${url}/slow`)
  const reader = answer.body?.getReader()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'a')
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'b')
  assert.deepEqual(await textAt('/slow', { method: 'HEAD' }), [200, ''])
  assert.doesNotMatch(await logsOf('slow'), /TRAILER/)
})

test('one address does not hold all connections, and silent ones are cut', async () => {
  const { port, hostname } = new URL(url)
  const many = Array.from({ length: 250 }, () =>
    connect(Number(port), hostname)
      .on('error', () => undefined)
      .resume(),
  )
  await until(
    () => Promise.resolve(many.filter(({ destroyed }) => !destroyed).length),
    (count) => count === 0,
  )
  // A head that comes late is answered with 408. A connection beyond the share of its address reads nothing.
  const refused = many.filter(({ bytesRead }) => bytesRead === 0).length
  assert.ok(refused >= 50 && refused < 150, `${refused} refused`)
  assert.equal((await textAt('/plain'))[0], 200)
})

test('a function sleeps when nobody uses it, but not before its own work is done', async () => {
  await deploy(
    'worker',
    `export default (request, ctx) => {
       ctx.waitUntil((async () => {
         await new Promise((resolve) => setTimeout(resolve, 2500))
         console.log('the work is done')
       })())
       return new Response('answered')
     }`,
  )
  assert.deepEqual(await textAt('/worker'), [200, 'answered'])
  await pause(1800)
  assert.notEqual(await pidOf('worker'), 0)
  await until(
    () => logsOf('worker'),
    (text) => text.includes('the work is done'),
  )
  await until(
    () => pidOf('worker'),
    (pid) => pid === 0,
  )
  assert.deepEqual(await textAt('/worker'), [200, 'answered'])
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

test('code reaches no file, process, variable, port or network of the machine', async () => {
  const probe = `
    import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
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
    })`
  await deploy('probe', probe)
  const asked = {
    files: [
      join(ergon.dataFolder, 'ergon.json'),
      '/etc/passwd',
      '/etc/shadow',
      fileOf('x.txt', 'x'),
    ],
    folders: [ergon.dataFolder, '/home', '/root', '/var', '/srv', '/sys'],
    // The portal and the status page; a way out leads to the ports of the API, of functions and of databases.
    ports: [ergon.port + 1, ergon.port + 4, 22],
    sockets: [
      join(ergon.runFolder, 'control.sock'),
      join(ergon.runFolder, 'fn-agent', 'awake.sock'),
      join(ergon.runFolder, 'state', 'postgres', '.s.PGSQL.5432'),
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
  const [status, failed] = await textAt('/greedy/forks')
  assert.equal(status, 200)
  assert.ok(Number(failed) > 30, failed)
  if (!/memory limit none/.test(ergon.stderr()))
    assert.equal((await textAt('/greedy/memory'))[0], 502)
  assert.deepEqual(await textAt('/plain', { method: 'POST', body: 'fine' }), [200, 'fine'])
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
  const [{ bytes = '0' } = {}] = await ergon.sql(
    'select coalesce(sum(length(text)), 0) as bytes from resource_logs',
  )
  assert.ok(Number(bytes) < 2_000_000, String(bytes))
})

test('a suspended function says so, and answers again when it is resumed', async () => {
  assert.equal((await ergon.cli('fn', 'suspend', 'plain')).code, 0)
  await until(
    () => show('plain'),
    ({ status }) => status === 'suspended',
  )
  const [status, body] = await textAt('/plain')
  assert.equal(status, 503)
  assert.match(body, /function_suspended/)
  assert.equal((await ergon.cli('fn', 'resume', 'plain')).code, 0)
  assert.equal((await textAt('/plain'))[0], 200)
})

test('a function whose wanted version failed is resumed with the one that answers', async () => {
  await deploy('steady', 'export const nothing = 3')
  assert.equal((await ergon.cli('fn', 'suspend', 'steady')).code, 0)
  await until(
    () => show('steady'),
    ({ status }) => status === 'suspended',
  )
  const { code, stderr } = await ergon.cli('fn', 'resume', 'steady')
  assert.equal(code, 0, stderr)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
})

test('the energy is billed to the function, and ends with its budget', async () => {
  await deploy('burner', `export default () => { for (;;); }`, {
    energy_budget: '10 J/day',
    timeout_s: 60,
  })
  const [status, body] = await textAt('/burner')
  assert.equal(status, 503)
  assert.match(body, /function_budget_exhausted/)
  const again = await textAt('/burner')
  assert.match(again[1], /function_budget_exhausted/)
  const used = await until(
    () => show('burner'),
    ({ energy_budget_used_j: usedJ }) => (usedJ ?? 0) > 5,
  )
  assert.ok((used.energy_budget_used_j ?? 0) <= 10)
  const [charge] = await ergon.sql(
    "select count(*) from charges where resource = $1 and operation = 'function.standing'",
    [used.id],
  )
  assert.notEqual(charge?.['count'], '0')
  const byService = await ergon.cli('usage', '--group-by', 'service', '--json')
  assert.match(byService.stdout, /"functions"/)
  assert.doesNotMatch(byService.stdout, /"databases"/)
  const byResource = await ergon.cli('usage', '--group-by', 'resource')
  assert.match(byResource.stdout, /^KIND +RESOURCE +REQUESTS /)
  assert.match(byResource.stdout, /^function +burner +\d+ /m)
  const beganMs = performance.now()
  const late = await ergon.cli('fn', 'deploy', fileOf('burner.mjs', 'export default () => 1'))
  assert.notEqual(late.code, 0)
  assert.match(late.stderr, /does not answer: Could not go on: the energy budget is used up/)
  assert.ok(performance.now() - beganMs < WAIT_MS)
  const raised = await ergon.cli('fn', 'budget', 'burner', 'none')
  assert.equal(raised.code, 0, raised.stderr)
})

test('a deleted function answers no more, and its address is free', async () => {
  assert.notEqual((await ergon.cli('fn', 'delete', 'hello')).code, 0)
  assert.equal((await ergon.cli('fn', 'delete', 'hello', '--force')).code, 0)
  await until(
    () => textAt('/greetings'),
    ([status]) => status === 404,
  )
  await deploy('second', "export default () => new Response('second')", { route: '/greetings' })
  assert.deepEqual(await textAt('/greetings'), [200, 'second'])
})

test('functions answer without a gateway, after the ingress was killed, and after a restart', async () => {
  await ergon.killCell('gw-1')
  assert.deepEqual(await textAt('/plain', { method: 'POST', body: 'alone' }), [200, 'alone'])
  await ergon.answers()
  await ergon.killCell('ingress')
  await until(
    () => textAt('/plain', { method: 'POST', body: 'back' }).catch(() => []),
    ([status]) => status === 200,
  )
  await ergon.restart()
  // A 503 with Retry-After is permitted until the ledger answers.
  const [, again] = await until(
    () => textAt('/plain', { method: 'POST', body: 'again' }),
    ([status]) => status === 200,
  )
  assert.equal(again, 'again')
})

test('a run that the end of the agent cuts off is made again', async () => {
  assert.equal((await ergon.cli('storage', 'mb', 's3://cut-off')).code, 0)
  await deploy(
    'cut',
    `let begun = 0
     export default async (request) => {
       if (request.method === 'GET') return new Response(String(begun))
       begun++
       await new Promise((resolve) => setTimeout(resolve, 1500))
       console.log('the run has ended')
       return new Response()
     }`,
    { on: ['bucket/cut-off/object-created'] },
  )
  const path = fileOf('object.txt', 'x')
  assert.equal((await ergon.cli('storage', 'cp', path, 's3://cut-off/one')).code, 0)
  await until(
    () => textAt('/cut'),
    ([, begun]) => begun === '1',
  )
  await ergon.kill()
  await ergon.restart()
  await until(
    () => logsOf('cut'),
    (text) => text.includes('the run has ended'),
  )
  await until(
    async () => (await api('GET', '/cut')).body.runs_waiting,
    (waiting) => waiting === 0,
  )
})

test('the books agree, and the log of acts has no variable', async () => {
  const acts = await ergon.sql(
    "select details::text from audit_entries where action = 'function.deploy'",
  )
  assert.ok(acts.some(({ details }) => String(details).includes('WHO')))
  assert.ok(!acts.some(({ details }) => String(details).includes('world')))
  assert.deepEqual(await bookFaults(ergon), [])
})

/** On this machine, outside of its namespaces. */
const uidOf = (pid: number): string =>
  /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''

test('a function that wakes runs in a process that has waited, once, and one with more memory starts its own', async () => {
  const source = `let asked = 0
export default { fetch: () => new Response(String(++asked)) }`
  const spares = async (): Promise<number[]> =>
    (await ergon.control('node.status')).cells.flatMap(({ name, state, pid }) =>
      name.startsWith('spare-') && state === 'ready' && pid !== null ? [pid] : [],
    )
  const asleep = (name: string) =>
    until(
      () => pidOf(name),
      (pid) => pid === 0,
    )
  await deploy('quick', source)
  await deploy('large', source, { memory: '200MB' })
  await Promise.all([asleep('quick'), asleep('large')])
  const waiting = await until(spares, ({ length }) => length === 2)
  assert.equal(new Set(waiting.map(uidOf)).size, 2)
  assert.deepEqual(await textAt('/quick'), [200, '1'])
  assert.deepEqual(await textAt('/large'), [200, '1'])
  const pid = await pidOf('quick')
  assert.ok(waiting.includes(pid))
  assert.ok(!waiting.includes(await pidOf('large')))
  // Another one follows, and no function gets a process that has run one.
  await until(spares, (pids) => pids.length === 2 && !pids.includes(pid))
  await asleep('quick')
  assert.deepEqual(await textAt('/quick'), [200, '1'])
  assert.notEqual(await pidOf('quick'), pid)
})
