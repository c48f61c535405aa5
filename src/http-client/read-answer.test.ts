// Answers in all forms and pieces. Node's parser is the judge: ours reads no answer that Node's does not, and reads the same.
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { request } from '#base/node-http.ts'
import { NotHttp } from './heads.ts'
import { HttpAnswerReader } from './read-answer.ts'

const MUTANTS = process.env['ERGON_LONG'] === '1' ? 50_000 : 600

type Seen = { readonly status: number; readonly body: string; readonly trailers: string }

const ANSWERS: Readonly<Record<string, string>> = {
  length: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Own: a\r\n\r\nhello',
  chunks:
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n00006\r\n world\r\n0\r\n\r\n',
  'with quoted extensions':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a="b;c= \\"d";e;f=1\r\nhello\r\n0;g=""\r\n\r\n',
  trailers:
    'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nTrailer: x-a\r\n\r\nA\r\n0123456789\r\n0\r\nX-A: 1\r\nx-b:2 \r\n\r\n',
  'until the end': 'HTTP/1.1 200 OK\r\n\r\nall of it',
  'of 1.0': 'HTTP/1.0 404 Not Found\r\n\r\nno',
  'without a body': 'HTTP/1.1 204\r\nContent-Length: 9\r\n\r\n',
  'after others':
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 \r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
}

/** Reads an answer in pieces of these sizes, again and again, with the end of the connection behind it. */
function read(text: string, sizes: readonly number[], method = 'GET'): Seen | undefined {
  let [status, body, trailers] = [0, '', '']
  const reader = new HttpAnswerReader({
    interim(head) {
      if (head.status === 101) throw new NotHttp('101')
    },
    head: (head) => void (status = head.status),
    piece: (bytes) => void (body += bytes.toString('latin1')),
    end: (pairs) => void (trailers = pairs.join()),
  })
  reader.begin(method === 'HEAD')
  const bytes = Buffer.from(text, 'latin1')
  try {
    for (let at = 0, nth = 0; at < bytes.length; nth++) {
      const piece = bytes.subarray(at, at + (sizes[nth % sizes.length] ?? 1))
      // More than the answer: the connection ends.
      if (reader.read(piece) < piece.length) return undefined
      at += piece.length
    }
    return reader.ended() ? { status, body, trailers } : undefined
  } catch (error) {
    if (error instanceof NotHttp) return undefined
    throw error
  }
}

/** Node's own client. */
const readByNode = (text: string): Promise<Seen | undefined> =>
  new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    const sent = request({ createConnection: () => socket })
    sent.once('error', () => resolve(undefined))
    sent.once('upgrade', () => resolve(undefined))
    sent.once('response', async (response) => {
      let body = ''
      try {
        for await (const chunk of response) body += (chunk as Buffer).toString('latin1')
        const trailers = response.rawTrailers.map((word, nth) =>
          nth % 2 === 0 ? word.toLowerCase() : word,
        )
        resolve({ status: response.statusCode ?? 0, body, trailers: trailers.join() })
      } catch {
        resolve(undefined)
      }
    })
    sent.end()
    socket.push(Buffer.from(text, 'latin1'))
    socket.push(null)
  })

for (const [what, text] of Object.entries(ANSWERS))
  test(`an answer ${what} is the same in all pieces, and as Node reads it`, async () => {
    const whole = read(text, [text.length])
    assert.ok(whole !== undefined)
    assert.deepEqual(whole, await readByNode(text))
    for (const sizes of [[1], [2], [3, 1], [7], [40, 1, 1]])
      assert.deepEqual(read(text, sizes), whole, String(sizes))
  })

test('an answer to HEAD ends with its head', () => {
  const { length = '' } = ANSWERS
  assert.deepEqual(read(length.slice(0, -5), [4], 'HEAD'), { status: 200, body: '', trailers: '' })
})

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`
const BAD: readonly string[] = [
  'HTTP/2.0 200 OK\r\n\r\n',
  'HTTP/1.1  200 OK\r\n\r\n',
  'HTTP/1.1 099 No\r\n\r\n',
  '\r\nHTTP/1.1 200 OK\r\n\r\n',
  `${HEAD}A: b\n\r\n\r\n`,
  `${HEAD}A: b\r\n c\r\n\r\n`,
  `${HEAD}A : b\r\n\r\n`,
  `${HEAD}: b\r\n\r\n`,
  `${HEAD}A\r\n\r\n`,
  `${HEAD}A: \0\r\n\r\n`,
  `${HEAD}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`,
  `${HEAD}Content-Length: +1\r\n\r\na`,
  `${HEAD}Content-Length: 0x1\r\n\r\na`,
  `${HEAD}Content-Length: 1, 1\r\n\r\na`,
  `${HEAD}Content-Length:\r\n\r\na`,
  `${HEAD}Content-Length: 2\r\n\r\na`,
  `${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${HEAD}Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n`,
  `${HEAD}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${CHUNKED}x\r\n\r\n`,
  `${CHUNKED}-1\r\n\r\n`,
  `${CHUNKED} 1\r\na\r\n0\r\n\r\n`,
  `${CHUNKED}1\na\r\n0\r\n\r\n`,
  `${CHUNKED}1\r\nab\r\n0\r\n\r\n`,
  `${CHUNKED}1\r\na0\r\n\r\n`,
  `${CHUNKED}100000000\r\na\r\n0\r\n\r\n`,
  `${CHUNKED}1;a="b\r\na\r\n0\r\n\r\n`,
  `${CHUNKED}1;a="b"c\r\na\r\n0\r\n\r\n`,
  `${CHUNKED}1;a="\\"\r\na\r\n0\r\n\r\n`,
  `${CHUNKED}1;${'a'.repeat(2000)}\r\na\r\n0\r\n\r\n`,
  `${CHUNKED}1\r\na\r\n0\r\n`,
  `${CHUNKED}0\r\nA: b\r\n c\r\n\r\n`,
  `${CHUNKED}0\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`,
  `${HEAD}A: ${'b'.repeat(20_000)}\r\n\r\n`,
]
test('an answer that is not of HTTP/1.1, or has no end, is none, in all pieces', () => {
  for (const text of BAD)
    for (const sizes of [[text.length], [1]])
      assert.equal(read(text, sizes), undefined, JSON.stringify(text.slice(0, 100)))
})

test('an answer that we read is one that Node reads, with the same body', async () => {
  const random = generator(19)
  // A tab behind "chunked" is blank space, which Node does not take for it.
  const bytes = [
    '\r',
    '\n',
    '\0',
    ' ',
    ':',
    ';',
    ',',
    '"',
    '\\',
    '0',
    '1',
    'f',
    'x',
    '\x7f',
    '\xff',
  ]
  const texts = Object.values(ANSWERS)
  let readCount = 0
  for (let nth = 0; nth < MUTANTS; nth++) {
    let text = texts[random(texts.length)] ?? ''
    for (let change = 0; change <= random(2); change++) {
      const at = random(text.length)
      const more = random(3) === 0 ? '' : (bytes[random(bytes.length)] ?? '')
      text = text.slice(0, at) + more + text.slice(at + random(2))
    }
    const seen = read(text, [1 + random(text.length)])
    if (seen === undefined) continue
    readCount++
    assert.deepEqual(await readByNode(text), seen, JSON.stringify(text))
  }
  assert.ok(readCount > MUTANTS / 10, `only ${readCount} were read`)
})

/** Whole numbers below a limit, the same in each run. */
function generator(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
