// Requests that no honest client sends. Each is refused with its status and the energy headers, or is
// harmless; none takes the process with it, and none is taken for two requests.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { bookFaults, chargesOf, shareFaults, type Share } from '../books.ts'
import { sendRaw, type RawOutcome } from '../raw-http.ts'
import { energyHeaderFaults } from '../../acceptance/energy-headers.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

const PATH = '/v1/models'
const CHAT = '/v1/chat/completions'
/** The headers of an honest request; a vector adds its own. */
const head = () => `Host: localhost:${ergon.port}\r\nAuthorization: Bearer ${ergon.token}\r\n`
const post = (rest: string, path = PATH) => `POST ${path} HTTP/1.1\r\n${head()}${rest}`
const get = (rest = '\r\n', path = PATH) => `GET ${path} HTTP/1.1\r\n${head()}${rest}`
const chunked = (body: string) => post(`Transfer-Encoding: chunked\r\n\r\n${body}`, CHAT)
const many = (count: number) => Array.from({ length: count }, (_, i) => `X${i}: 1\r\n`).join('')

type Expected = { readonly statuses: readonly number[]; readonly code?: string }
const REFUSED: Expected = { statuses: [400], code: 'malformed_request' }
const answered = (...statuses: number[]): Expected => ({ statuses })

/** Name → bytes and what must come back, in order; nothing else may come back. */
const VECTORS: Record<string, [() => string, Expected]> = {
  'Content-Length and Transfer-Encoding': [
    () => post('Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX'),
    REFUSED,
  ],
  'Content-Length twice, the same': [
    () => post('Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc'),
    REFUSED,
  ],
  'Content-Length twice, different': [
    () => post('Content-Length: 3\r\nContent-Length: 8\r\n\r\nabcdefgh'),
    REFUSED,
  ],
  'Content-Length as a list': [() => post('Content-Length: 3, 3\r\n\r\nabc'), REFUSED],
  'Content-Length with a plus': [() => post('Content-Length: +3\r\n\r\nabc'), REFUSED],
  'Content-Length below zero': [() => post('Content-Length: -1\r\n\r\nabc'), REFUSED],
  'Content-Length in hexadecimal': [() => post('Content-Length: 0x3\r\n\r\nabc'), REFUSED],
  'Transfer-Encoding unknown': [
    () => post('Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'Transfer-Encoding chunked, identity': [
    () => post('Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'Transfer-Encoding identity, chunked': [
    () => post('Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'Transfer-Encoding twice': [
    () => post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'Transfer-Encoding with a space before the colon': [
    () => post('Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'Transfer-Encoding after a vertical tab': [
    () => post('Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'Transfer-Encoding in HTTP/1.0': [
    () => `POST ${PATH} HTTP/1.0\r\n${head()}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    REFUSED,
  ],
  'Transfer-Encoding folded': [
    () => post('Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'),
    REFUSED,
  ],
  'bare line feeds': [() => `GET ${PATH} HTTP/1.1\nHost: localhost\n\n`, REFUSED],
  'bare carriage return': [() => get('Y: a\rX: y\r\n\r\n'), REFUSED],
  'folded header': [() => get('X: a\r\n b\r\n\r\n'), REFUSED],
  'chunk extension with a line feed': [() => chunked('3;a\nb\r\nabc\r\n0\r\n\r\n'), REFUSED],
  'chunk ended by a line feed': [() => chunked('3\nabc\n0\n\n'), REFUSED],
  'chunk without its end': [() => chunked('3\r\nabc0\r\n\r\n'), REFUSED],
  'chunk size overflow': [() => chunked('fffffffffffffffff\r\nabc'), REFUSED],
  'chunk size 0x3': [() => chunked('0x3\r\nabc\r\n0\r\n\r\n'), REFUSED],
  'chunk size with a space': [() => chunked('3 \r\nabc\r\n0\r\n\r\n'), REFUSED],
  'trailer that names Content-Length and Host': [
    () => chunked('0\r\nContent-Length: 5\r\nHost: evil\r\n\r\n'),
    REFUSED,
  ],
  'two Host headers': [() => get('Host: b\r\n\r\n'), REFUSED],
  'no Host header': [() => `GET ${PATH} HTTP/1.1\r\n\r\n`, REFUSED],
  'Host with a path': [() => `GET ${PATH} HTTP/1.1\r\nHost: a/../b\r\n\r\n`, REFUSED],
  'Host with user information': [() => `GET ${PATH} HTTP/1.1\r\nHost: a@b:80\r\n\r\n`, REFUSED],
  'Host of somebody else': [
    () => `GET ${PATH} HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    { statuses: [421], code: 'host_unknown' },
  ],
  'absolute-form target of another host': [() => get('\r\n', 'http://evil.example/x'), REFUSED],
  'two Authorization headers': [() => get('Authorization: Bearer x\r\n\r\n'), REFUSED],
  'NUL in a value': [() => get('X: a\0b\r\n\r\n'), REFUSED],
  'space in a header name': [() => get('X Y: a\r\n\r\n'), REFUSED],
  'empty header name': [() => get(': a\r\n\r\n'), REFUSED],
  'latin-1 in the target': [() => get('\r\n', '/\xff'), REFUSED],
  'space in the target': [() => get('\r\n', '/a b'), REFUSED],
  'tab in the target': [() => get('\r\n', '/a\tb'), REFUSED],
  'HTTP/1.2': [() => `GET ${PATH} HTTP/1.2\r\n${head()}\r\n`, REFUSED],
  'HTTP/9.9': [() => `GET ${PATH} HTTP/9.9\r\n${head()}\r\n`, REFUSED],
  'HTTP/2 preface': [() => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', REFUSED],
  'TLS hello': [() => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', REFUSED],
  'method in lower case': [() => `get ${PATH} HTTP/1.1\r\n${head()}\r\n`, REFUSED],
  'method of 200 letters': [() => `${'A'.repeat(200)} / HTTP/1.1\r\n${head()}\r\n`, REFUSED],
  CONNECT: [() => `CONNECT a:80 HTTP/1.1\r\n${head()}\r\n`, REFUSED],
  'OPTIONS *': [() => `OPTIONS * HTTP/1.1\r\n${head()}\r\n`, REFUSED],
  'Expect that nobody knows': [
    () => post('Expect: weird\r\nContent-Length: 0\r\n\r\n'),
    { statuses: [417], code: 'expectation_failed' },
  ],
  'header of 20 KB': [
    () => get(`X: ${'a'.repeat(20_000)}\r\n\r\n`),
    { statuses: [431], code: 'headers_too_large' },
  ],
  '2500 headers': [() => get(`${many(2500)}\r\n`), { statuses: [431], code: 'headers_too_large' }],
  '101 headers': [() => get(`${many(101)}\r\n`), { statuses: [431], code: 'headers_too_large' }],
  'target of 9 KB': [
    () => get('\r\n', `/${'a'.repeat(9000)}`),
    { statuses: [414], code: 'uri_too_long' },
  ],
  'percent sign without digits': [
    () => get('\r\n', '/v1/models/%zz'),
    { statuses: [404], code: 'not_found' },
  ],
  'dots in the target': [
    () => get('\r\n', '/v1/../v1/models'),
    { statuses: [404], code: 'not_found' },
  ],
  'two slashes in the target': [
    // The bucket without a name, whatever follows.
    () => get('\r\n', '//evil.example/v1/models'),
    answered(404),
  ],
  'refused before 100 Continue': [
    () =>
      `POST ${CHAT} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    { statuses: [401], code: 'token_missing' },
  ],
  'second request is garbage': [() => `${get()}GARBAGE\r\n\r\n`, answered(200, 400)],
  'empty line before the request': [() => `\r\n\r\n${get()}`, answered(200)],
  'GET with a body': [() => get('Content-Length: 3\r\n\r\nabc'), answered(200)],
  'empty body, then another request': [
    () => `${post('Content-Length: 0\r\n\r\n', CHAT)}${get()}`,
    answered(400, 200),
  ],
  'body that is a request': [
    () => `${post(`Content-Length: ${get().length}\r\n\r\n`, '/v1/nowhere')}${get()}${get()}`,
    answered(404, 200),
  ],
  'upgrade to h2c': [
    () => get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM\r\n\r\n'),
    answered(200),
  ],
  'Connection that names Authorization': [
    () => get('Connection: close, Authorization\r\n\r\n'),
    answered(200),
  ],
  'no Host header in HTTP/1.0': [() => `GET ${PATH} HTTP/1.0\r\n\r\n`, REFUSED],
  'no Host header, nor HTTP/1.0, at a health page': [
    () => 'GET /healthz HTTP/1.1\r\n\r\n',
    REFUSED,
  ],
  'a load balancer that asks /healthz in HTTP/1.0': [
    () => 'GET /healthz HTTP/1.0\r\n\r\n',
    answered(200),
  ],
  'a load balancer that asks /readyz?from=lb in HTTP/1.0': [
    () => 'GET /readyz?from=lb HTTP/1.0\r\n\r\n',
    answered(200),
  ],
  'HTTP/1.0': [() => `GET ${PATH} HTTP/1.0\r\n${head()}\r\n`, answered(200)],
}

const codeOf = (body: string): string =>
  (JSON.parse(body) as { error: { code: string } }).error.code

async function stillAnswers(): Promise<void> {
  const [honest] = (await sendRaw(ergon.port, get())).responses
  assert.equal(honest?.status, 200)
}

function assertEnergyHeaders({ responses }: RawOutcome): void {
  for (const { headers } of responses) assert.deepEqual(energyHeaderFaults(headers), [])
}

describe('a hostile request', { concurrency: 8 }, () => {
  test('a header that comes slowly is cut off in about ten seconds with 408', async () => {
    const outcome = await sendRaw(ergon.port, `GET ${PATH} HTTP/1.1\r\n`, {
      timeoutMs: 30_000,
      then: (socket) => {
        const drip = setInterval(() => socket.write('X: 1\r\n'), 500)
        socket.on('close', () => clearInterval(drip))
        socket.on('error', () => clearInterval(drip))
      },
    })
    assert.equal(outcome.responses[0]?.status, 408)
    assert.match(outcome.responses[0]?.body ?? '', /"code":"request_timeout"/)
    assertEnergyHeaders(outcome)
  })

  for (const [name, [bytes, expected]] of Object.entries(VECTORS))
    test(`${name} gets ${expected.statuses.join(', ')} and nothing more`, async () => {
      // One more response than expected is waited for: a smuggled request would be it. Where the
      // server must close, its close ends the wait.
      const lingerMs = expected === REFUSED ? 8000 : 250
      const responses = expected.statuses.length
      const outcome = await sendRaw(ergon.port, bytes(), { responses, lingerMs })
      assert.deepEqual(
        outcome.responses.map(({ status }) => status),
        expected.statuses,
      )
      assertEnergyHeaders(outcome)
      if (expected.code !== undefined)
        assert.equal(codeOf(outcome.responses[0]?.body ?? '{}'), expected.code)
      if (expected === REFUSED) assert.ok(outcome.closed, 'the connection is closed')
    })
})

test('HEAD answers as GET does, without a body', async () => {
  const outcome = await sendRaw(ergon.port, `HEAD ${PATH} HTTP/1.1\r\n${head()}\r\n`, {
    head: true,
  })
  assert.equal(outcome.responses[0]?.status, 200)
  assertEnergyHeaders(outcome)
})

test('pipelined requests are answered each and in order', async () => {
  const paths = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? '/healthz' : `/v1/none-${i}`))
  const bytes = paths.map((path) => get('\r\n', path)).join('')
  const { responses } = await sendRaw(ergon.port, bytes, { responses: paths.length })
  assert.deepEqual(
    responses.map(({ status }) => status),
    paths.map((path) => (path === '/healthz' ? 200 : 404)),
  )
  const details = responses.map(({ body }) => (JSON.parse(body) as { detail?: string }).detail)
  assert.ok(paths.every((path, i) => path === '/healthz' || details[i]?.includes(`"${path}"`)))
})

describe('a body beyond the limit', { concurrency: true }, () => {
  const tooLarge = 9 * 1024 * 1024
  test('is refused by its declared length, before it is sent', async () => {
    const outcome = await sendRaw(ergon.port, post(`Content-Length: ${tooLarge}\r\n\r\n`, CHAT))
    assert.equal(outcome.responses[0]?.status, 413)
    assertEnergyHeaders(outcome)
  })
  test('is refused when it is chunked and grows beyond it', async () => {
    const piece = `${(65_536).toString(16)}\r\n${'a'.repeat(65_536)}\r\n`
    const outcome = await sendRaw(ergon.port, chunked(piece.repeat(tooLarge / 65_536)))
    assert.equal(outcome.responses[0]?.status, 413)
    assertEnergyHeaders(outcome)
  })
  test('ends the connection when it goes on and on', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'a')
    const outcome = await sendRaw(ergon.port, post('Content-Length: 99999999999\r\n\r\n', CHAT), {
      responses: 2,
      timeoutMs: 20_000,
      then: (socket) => {
        const more = () => {
          while (!socket.destroyed && socket.write(piece));
        }
        // Only once the answer is here: a reset takes what its receiver has not read yet.
        socket.once('data', more)
        socket.on('drain', more)
      },
    })
    assert.ok(outcome.closed)
    assert.equal(outcome.responses.length, 1)
  })
  test('from a caller without a token is told 401, not cut', async () => {
    // fetch sends the whole body; a server that closes at once makes it fail with a reset.
    const answer = await fetch(ergon.baseUrl + CHAT, {
      method: 'POST',
      body: 'a'.repeat(6_000_000),
    })
    assert.equal(answer.status, 401)
    assert.equal(((await answer.json()) as { title: string }).title, 'token_missing')
  })
})

test('500 malformed requests leave the process, its ledger and the next request well', async () => {
  const pid = await ergon.pidOf('gw-1')
  const vectors = Object.values(VECTORS).filter(([, expected]) => expected === REFUSED)
  const shares: Share[] = []
  // Unattributed of the tests before belong to seconds that are over.
  await pause(1000 - (Date.now() % 1000))
  for (let sent = 0; sent < 500; sent += 50) {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) => sendRaw(ergon.port, vectors[i % vectors.length]![0]())),
    )
    for (const { responses } of outcomes) {
      assert.equal(responses[0]?.status, 400)
      const { headers = {} } = responses[0] ?? {}
      const [joules, milligrams] = [headers['x-energy-joules'] ?? '', headers['x-carbon-mg'] ?? '']
      shares.push({ receipt: headers['x-receipt-id'] ?? '', joules, milligrams })
    }
  }
  await stillAnswers()
  assert.equal(await ergon.pidOf('gw-1'), pid)
  // They share a charge per second: what each states is its share, and the charge says of how many it is.
  const receipts = [...new Set(shares.map(({ receipt }) => receipt))]
  assert.ok(receipts.length < 100, `${receipts.length} receipts for 500 refusals`)
  assert.deepEqual(shareFaults(await chargesOf(ergon, receipts), shares, 'no others'), [])
})

test('the books add up after hostile requests', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
