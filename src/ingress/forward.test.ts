// The ingress in front of code that speaks HTTP as it likes: a bare server is the function, a bare socket the client.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from '#base/node-http.ts'
import { connect, createServer as createBareServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createLogger } from '#base/log.ts'
import { hostLabelOf } from '#contract/functions/functions-address.ts'
import { answerRequest } from './answer.ts'
import { testRoute } from './route.fixture.ts'
import { RouteTable, type IngressRoute } from './routes.ts'
import { createTurns } from './turns.ts'
import { openInstancePool } from './instance-pool.ts'
import { NO_WORK, NOBODY, UNCOUNTED } from './uncounted.fixture.ts'

const ACCOUNT = 'acct_a'
const HOST = `${hostLabelOf(ACCOUNT)}.functions.localhost`
const ADDRESS = { host: 'functions.localhost', origin: undefined, named: `http://*.${HOST}` }
const DEADLINE_MS = 3000

type Seen = { readonly text: string; readonly asked: string; readonly logged: string }

/** Sends text to the ingress in front of a function that answers with `answer`, and reads until the end. */
async function exchange(
  t: TestContext,
  sent: string,
  answer: string,
  { stays = false, ...more }: Partial<IngressRoute> & { readonly stays?: boolean } = {},
): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-forward-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const socketPath = join(folder, 'function')
  let asked = ''
  const own = createBareServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      asked += chunk.toString('latin1')
      // Whatever follows a body is sent with it.
      setTimeout(() => (stays ? socket.write(answer) : socket.end(answer)), 20)
    })
  })
  await once(own.listen(socketPath), 'listening')
  t.after(() => own.close())
  let logged = ''
  const log = createLogger('test', { level: 'info', write: (line) => (logged += line) })
  const routes = new RouteTable(ADDRESS)
  routes.put([testRoute({ account: ACCOUNT, timeoutS: 2, ...more })])
  const pool = openInstancePool(`unix:${socketPath}`, NO_WORK)
  t.after(() => pool.destroy())
  const use = { pool, loading: () => undefined, late() {}, down() {}, end() {} }
  const uses = { begin: () => Promise.resolve(use) }
  const deps = {
    routes,
    uses,
    turns: createTurns(),
    nobody: NOBODY,
    ended: UNCOUNTED,
    log,
    trusts: () => false,
  }
  const server = createServer((request, response) => void answerRequest(request, response, deps))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.setTimeout(DEADLINE_MS, () => client.destroy())
  client.write(sent)
  let text = ''
  for await (const chunk of client) text += String(chunk)
  return { text, asked, logged }
}

const get = (method = 'GET', version = '1.1', more = '') =>
  `${method} / HTTP/${version}\r\nHost: ${HOST}\r\nConnection: close\r\n${more}\r\n`
const OK = 'HTTP/1.1 200 OK\r\n'
const STREAM = `${OK}Transfer-Encoding: chunked\r\nTrailer: x-ergon-cpu-us\r\n\r\n2\r\nhi\r\n0\r\nx-ergon-cpu-us: 7\r\n\r\n`

const BAD_ANSWERS = {
  'a status below 100': 'HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n',
  'a status above 599': 'HTTP/1.1 777 No\r\nContent-Length: 0\r\n\r\n',
  'two lengths': `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi`,
  'a length and chunks': `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  'a long header': `${OK}X-Long: ${'a'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
  'no HTTP': 'hello\r\n\r\n',
  'another protocol':
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: own\r\nConnection: upgrade\r\n\r\n',
  'another protocol without its name': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
}
for (const [what, bad] of Object.entries(BAD_ANSWERS))
  test(`a function that answers with ${what} is a function that failed`, async (t) => {
    for (const stays of [false, true]) {
      const { text, logged } = await exchange(t, get(), bad, { stays })
      assert.match(text, /^HTTP\/1\.1 502 Bad Gateway\r\n/)
      assert.match(text, /function_failed/)
      assert.equal(logged, '')
    }
  })

test('an answer whose lines end in LF alone is told as no HTTP, and not as the end of a process', async (t) => {
  const bare = `${OK}Content-Type: text/plain\n\n`
  for (const answer of [`${bare}hi`, `${bare}a body with an empty line\r\n\r\n`])
    for (const stays of [false, true]) {
      const { text } = await exchange(t, get('POST'), answer, { stays })
      assert.match(text, /^HTTP\/1\.1 502 /)
      assert.match(text, /function_failed.*not of HTTP\/1\.1: .* CRLF/)
    }
})

test('an answer that is no HTTP for another reason has that reason', async (t) => {
  const twice = `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`
  const { text } = await exchange(t, get(), twice)
  assert.match(text, /function_failed/)
  assert.doesNotMatch(text, /CRLF/)
})

test('a body that ends early ends the connection, and is no fault of the service', async (t) => {
  const { text, logged } = await exchange(t, get(), `${OK}Content-Length: 100\r\n\r\nhi`)
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.equal(logged, '')
})

test('an answer without a body needs no figure of its CPU', async (t) => {
  const { text, logged } = await exchange(t, get(), 'HTTP/1.1 204 No Content\r\n\r\n')
  assert.match(text, /^HTTP\/1\.1 204 No Content\r\n/)
  assert.equal(logged, '')
})

test('an answer that has no content tells no length, and no content goes on', async (t) => {
  const none = await exchange(t, get(), 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n')
  assert.match(none.text, /^HTTP\/1\.1 204 /)
  assert.doesNotMatch(none.text, /content-length/i)
  for (const body of [
    'Content-Length: 2\r\n\r\nhi',
    'Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
  ]) {
    const { text } = await exchange(t, get(), `HTTP/1.1 205 Reset Content\r\n${body}`)
    assert.match(text, /^HTTP\/1\.1 205 [^]*content-length: 0\r\n[^]*\r\n\r\n$/i)
    assert.doesNotMatch(text, /content-length: 2|transfer-encoding|hi$/i)
  }
})

test('a stream reaches clients that take no trailers', async (t) => {
  const old = await exchange(t, get('GET', '1.0'), STREAM)
  assert.match(old.text, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nhi$/)
  const head = await exchange(t, get('HEAD'), `${OK}Transfer-Encoding: chunked\r\n\r\n`)
  assert.match(head.text, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/)
  const now = await exchange(t, get(), STREAM)
  assert.match(now.text, /\r\ntrailer: X-Energy-Joules/i)
})

for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'])
  test(`the chunks of a ${method} stay chunks`, async (t) => {
    const body = 'GET /other HTTP/1.1\r\nHost: x\r\n\r\n'
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const sent = get(method, '1.1', 'Transfer-Encoding: chunked\r\n') + chunks
    const { asked } = await exchange(t, sent, `${OK}Content-Length: 0\r\n\r\n`)
    assert.match(asked, /\r\ntransfer-encoding: chunked\r\n/i)
    assert.ok(asked.includes(`\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`), asked)
  })

const OURS = [
  'X-Energy-Joules',
  'x-energy-own',
  'X-Carbon-mg',
  'X-Receipt-Id',
  'X-ROUTED-TO',
  'X-Tier',
  'X-Workload-Id',
  'Strict-Transport-Security',
  'Alt-Svc',
  'Clear-Site-Data',
]
test('code cannot send the headers of the service', async (t) => {
  const forged = OURS.map((name) => `${name}: forged\r\n`).join('')
  const { text } = await exchange(
    t,
    get(),
    `${OK}X-Own: kept\r\n${forged}Content-Length: 0\r\n\r\n`,
  )
  assert.match(text, /\r\nx-own: kept\r\n/i)
  assert.doesNotMatch(text, /forged/)
})

test('an answer has one request id, and no header that Connection names, also of the second', async (t) => {
  const { text } = await exchange(
    t,
    get(),
    `${OK}X-Request-Id: own\r\nConnection: x-a\r\nConnection: x-b\r\nX-A: 1\r\nX-B: 1\r\nContent-Length: 0\r\n\r\n`,
  )
  assert.doesNotMatch(text, /^x-[ab]:/im)
  assert.deepEqual(text.match(/^x-request-id: .{4}/gim), ['x-request-id: req_'])
})

test('a request for a port that there is not is refused', async (t) => {
  const sent = get().replace(HOST, `${HOST}:65536`)
  const { text, asked } = await exchange(t, sent, STREAM)
  assert.match(text, /^HTTP\/1\.1 400 /)
  assert.equal(asked, '')
})

test('a request with two hosts is refused', async (t) => {
  const { text, asked } = await exchange(t, get('GET', '1.1', 'Host: other\r\n'), STREAM)
  assert.match(text, /^HTTP\/1\.1 400 /)
  assert.match(text, /malformed_request/)
  assert.equal(asked, '')
})
