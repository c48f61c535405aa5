// The ingress of a running product: whole host names, and requests while the state and the gateways are away.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { signalProcess } from '#cells/stop.ts'
import { startPebble, withoutPebble, type Pebble } from '#ingress/acme/pebble.fixture.ts'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { childrenOf, readyProgramOf } from '../faults/processes.ts'
import { createRests } from '../rests.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'

// Beside five other programs the first function needs a minute.
const WAIT_MS = 120_000

let ergon: Ergon
let port: number
let tlsPort: number
let folder: string
let pebble: Pebble | undefined
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-ingress-'))
  tlsPort = await freePort()
  if (withoutPebble === false) pebble = await startPebble()
  ergon = await startErgon({
    env: {
      ERGON_INGRESS_TLS_PORT: String(tlsPort),
      ERGON_INGRESS_CERTIFICATES: folder,
      ...(pebble && {
        ERGON_INGRESS_ACME: pebble.settings.directory,
        ERGON_INGRESS_ACME_EMAIL: pebble.settings.email,
        ERGON_INGRESS_ACME_ROOTS: pebble.rootsFile,
      }),
    },
  })
  port = Number(new URL(String(ergon.ready['functions_url'])).port)
})
after(async () => {
  await ergon?.stop()
  pebble?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: free } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return free
}

type Answer = { readonly status: number; readonly text: string; readonly type: string }

/** A request of its own connection; status 0 where nobody answers. */
const ask = (host: string, path = '/', headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve) => {
    const sent = request({ port, path, agent: false, headers: { host, ...headers } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const { statusCode: status = 0, headers: got } = answer
      answer.on('close', () => resolve({ status, text, type: String(got['content-type']) }))
    })
    sent.once('error', (error) => resolve({ status: 0, text: String(error), type: '' }))
    sent.end()
  })

async function eventually<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const lastMs = performance.now() + WAIT_MS
  const rest = createRests()
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    assert.ok(performance.now() < lastMs, JSON.stringify(seen))
    await rest()
  }
}

const api = async (
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${ergon.baseUrl}/v1/functions${path}`, {
    method,
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as Record<string, unknown>
}

/** Deploys a module at a host of its own. */
async function deploy(name: string, source: string, host: string): Promise<void> {
  await api('POST', '', { name, file: 'index.mjs', source, routes: [host] })
  await eventually(
    () => ask(host),
    ({ status }) => status === 200,
  )
}

test('a host name leads to its resource, and a suspended one tells browsers in HTML', async () => {
  await deploy(
    'named',
    'export default (r) => new Response(new URL(r.url).pathname)',
    'api.acme.localhost',
  )
  assert.equal((await ask('api.acme.localhost', '/x/y')).text, '/x/y')
  assert.equal((await ask('acme.localhost')).status, 404)
  await api('PATCH', '/named', { suspended: true })
  const html = { accept: 'text/html,*/*' }
  const page = await eventually(
    () => ask('api.acme.localhost', '/', html),
    ({ status }) => status === 503,
  )
  assert.equal(page.type, 'text/html; charset=utf-8')
  assert.match(page.text, /it is suspended/)
  const json = await ask('api.acme.localhost')
  assert.deepEqual([json.status, json.type], [503, 'application/problem+json'])
})

/** The most that a group of memory had, and may have; undefined where the machine limits no memory. */
function memoryOf(pid: number): { readonly peak: number; readonly most: number } | undefined {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  const [, first] = /^\d+:(?:\S+,)?memory(?:,\S+)?:(\S+)$/m.exec(groups) ?? []
  const [, second] = /^0::(\S+)$/m.exec(groups) ?? []
  const files = [
    [`/sys/fs/cgroup/memory${first}`, 'memory.max_usage_in_bytes', 'memory.limit_in_bytes'],
    [`/sys/fs/cgroup${second}`, 'memory.peak', 'memory.max'],
  ] as const
  for (const [folder, peak, most] of files)
    if (existsSync(`${folder}/${peak}`)) {
      const read = (name: string) => Number(readFileSync(`${folder}/${name}`, 'utf8'))
      return { peak: read(peak), most: read(most) }
    }
  return undefined
}

test('a flood of slow connections stays below the memory of the ingress, and others are answered', async (t) => {
  await deploy('flooded', `export default () => new Response('ok')`, 'flooded.localhost')
  const pid = await ergon.pidOf('ingress')
  const begun = `GET / HTTP/1.1\r\nHost: flooded.localhost\r\nX-Long: ${'a'.repeat(30_000)}`
  const sockets = Array.from({ length: 1800 }, (_, nth) => {
    // An address has 200.
    const socket = connect({
      port,
      host: '127.0.0.1',
      localAddress: `127.0.1.${1 + Math.floor(nth / 180)}`,
    })
    socket.on('error', () => undefined)
    socket.write(begun)
    return socket
  })
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const slow = setInterval(() => sockets.forEach((socket) => socket.write('a')), 500)
  t.after(() => clearInterval(slow))
  await eventually(
    () => ask('flooded.localhost'),
    ({ status }) => status === 200,
  )
  const memory = memoryOf(pid)
  t.diagnostic(JSON.stringify(memory))
  if (memory !== undefined)
    assert.ok(memory.most <= 1e9 && memory.peak < memory.most / 2, JSON.stringify(memory))
  assert.equal(await ergon.pidOf('ingress'), pid)
})

test('no request fails while versions follow each other under load', async () => {
  const name = 'rolled'
  const source = (version: number) => `export default () => new Response('${version}')`
  await deploy(name, source(1), 'rolled.localhost')
  const path = `/~${ergon.account}/${name}`
  const answers: Answer[] = []
  let isOver = false
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) answers.push(await ask('localhost', path))
  })
  await eventually(
    async () => answers,
    (given) => given.some(({ text }) => text === '1'),
  )
  for (const version of [2, 3]) {
    await api('POST', '', { name, file: 'index.mjs', source: source(version) })
    await eventually(
      () => ask('localhost', path),
      ({ text }) => text === String(version),
    )
  }
  isOver = true
  await Promise.all(clients)
  assert.deepEqual(
    answers.filter(({ status }) => status !== 200),
    [],
  )
  assert.deepEqual([...new Set(answers.map(({ text }) => text))], ['1', '2', '3'])
})

test('an ingress that starts while state and gateways are away serves what runs', async () => {
  await deploy('steady', "export default () => new Response('here')", 'steady.localhost')
  const ingress = await readyProgramOf(ergon, 'ingress')
  const pids: number[] = []
  for (const name of ['postgres', 'gw-1']) {
    const pid = await readyProgramOf(ergon, name)
    pids.push(pid, ...childrenOf(pid))
  }
  for (const pid of pids) signalProcess(pid, 'SIGSTOP')
  try {
    assert.equal((await ask('steady.localhost')).text, 'here')
    process.kill(ingress, 'SIGKILL')
    await eventually(
      () => ask('steady.localhost'),
      ({ status }) => status === 0,
    )
    const answer = await eventually(
      () => ask('steady.localhost'),
      ({ status }) => status !== 0,
    )
    assert.deepEqual([answer.status, answer.text], [200, 'here'])
  } finally {
    for (const pid of pids) signalProcess(pid, 'SIGCONT')
  }
})

/** The certificate and the answer at a name by TLS; undefined without a certificate. */
async function askTls(host: string): Promise<{ cert: string; text: string } | undefined> {
  const socket = connectTls({
    port: tlsPort,
    host: '127.0.0.1',
    servername: host,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  try {
    await once(socket, 'secureConnect')
    const cert = socket.getPeerX509Certificate()?.toString() ?? ''
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return { cert, text }
  } catch {
    return undefined
  }
}

test('a certificate that comes, changes, breaks and goes is taken up without a restart', async () => {
  const host = 'secure.acme.localhost'
  await deploy('secure', "export default () => new Response('by tls')", host)
  assert.equal(await askTls(host), undefined)
  const put = (pair: { readonly cert: string; readonly key: string }) => {
    writeFileSync(join(folder, '_.acme.localhost.key'), pair.key)
    writeFileSync(join(folder, '_.acme.localhost.crt'), pair.cert)
  }
  const served = (cert: string) =>
    eventually(
      () => askTls(host),
      (seen) => seen?.cert === cert,
    )
  const [one, two] = [testCertificate('*.acme.localhost'), testCertificate('*.acme.localhost')]
  put(one)
  assert.match((await served(one.cert))?.text ?? '', /^HTTP\/1\.1 200 [\s\S]*by tls/)
  put(two)
  await served(two.cert)
  put({ cert: one.cert, key: two.key })
  await eventually(
    () => ergon.sql("select from alarms where kind = 'route_certificate_refused'"),
    (rows) => rows.length === 1,
  )
  await served(two.cert)
  rmSync(join(folder, '_.acme.localhost.crt'))
  await eventually(
    () => askTls(host),
    (seen) => seen === undefined,
  )
})

test(
  'a name of a route gets a certificate from an authority',
  { skip: withoutPebble },
  async (t) => {
    // The authority asks on port 80 of the name.
    const relay = createServer((socket) => {
      const ingress = connect(port, '127.0.0.1')
      for (const one of [socket, ingress]) one.on('error', () => one.destroy())
      socket.pipe(ingress).pipe(socket)
    })
    await once(relay.listen(pebble?.httpPort, '127.0.0.1'), 'listening')
    t.after(() => relay.close())
    const host = 'api.example.test'
    await deploy('certified', "export default () => new Response('certified')", host)
    const seen = await eventually(
      () => askTls(host),
      (answer) => answer !== undefined,
    )
    assert.match(seen?.text ?? '', /^HTTP\/1\.1 200 [\s\S]*certified/)
    assert.match(new X509Certificate(seen?.cert ?? '').issuer, /Pebble/)
  },
)
