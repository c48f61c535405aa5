// Clients of HTTP/2 that are silent, and clients that only have large heads.
import assert from 'node:assert/strict'
import { connect, type ClientHttp2Session } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openInstance } from './instance.fixture.ts'
import { listenPlain } from './server.ts'

const LOOKS_MS = 500

async function start(t: TestContext) {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  let disturbed = 0
  const nobody = { mark() {}, disturb: () => void disturbed++ }
  const front = await listenPlain({ ...deps, nobody, listen: { host: '127.0.0.1', port: 0 } })
  t.after(() => front.drain())
  /** The watch says so many times that there are silent frames. */
  const floods = async (act: () => Promise<unknown>) => {
    disturbed = 0
    await act()
    await pause(LOOKS_MS)
    return disturbed
  }
  return { port: front.port, floods }
}

const ask = async (session: ClientHttp2Session, headers: Record<string, string>) => {
  const stream = session.request({ ':path': '/', ...headers })
  stream.resume()
  await new Promise((resolve) => stream.once('close', resolve))
}

for (const { what, headers } of [
  { what: 'a token of 3 kB, which no table keeps', headers: { authorization: 'Z'.repeat(3000) } },
  { what: 'a cookie of 8 kB', headers: { cookie: `a=${'Z'.repeat(8000)}` } },
  {
    what: 'many headers of 100 bytes',
    headers: Object.fromEntries(
      Array.from({ length: 60 }, (_, nth) => [`x-${nth}`, 'Z'.repeat(100)]),
    ),
  },
])
  test(`requests with ${what} are no flood of silent frames`, async (t) => {
    const { port, floods } = await start(t)
    const session = connect(`http://localhost:${port}`)
    t.after(() => session.destroy())
    const act = () => Promise.all(Array.from({ length: 20 }, () => ask(session, headers)))
    assert.equal(await floods(act), 0)
  })

test('headers that a head repeats, and frames that nobody knows, are a flood of silent frames', async (t) => {
  const { port, floods } = await start(t)
  const frames = Buffer.concat(Array(400).fill(Buffer.from([0, 0, 0, 0xfa, 0, 0, 0, 0, 0])))
  const client = connectTcp({ port, host: '127.0.0.1' }).on('error', () => undefined)
  t.after(() => client.destroy())
  client.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', 'latin1'))
  assert.equal(await floods(async () => undefined), 0)
  // GET / of localhost, and a header of 1000 bytes, which enters the table; then eight times that entry.
  const field = [0x40, 1, 0x78, 0x7f, 0xe9, 0x06, ...Array<number>(1000).fill(0x5a)]
  const block = [0x82, 0x86, 0x84, 0x41, 9, ...Buffer.from('localhost'), ...field]
  const head = (nth: number, fields: number[]) => {
    const bytes = Buffer.from([0, 0, 0, 1, 5, 0, 0, 0, nth, ...fields])
    bytes.writeUIntBE(fields.length, 0, 3)
    return bytes
  }
  assert.equal(await floods(async () => client.write(head(1, block))), 0)
  const repeated = [0x82, 0x86, 0x84, 0xbf, ...Array<number>(8).fill(0xbe)]
  const flood = async () => client.write(Buffer.concat([head(3, repeated), frames]))
  assert.equal(await floods(flood), 1)
})
