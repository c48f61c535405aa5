// Bytes of strangers at the proxy: whatever they send before, in and behind the handshake, it is answered by the
// protocol or not at all, its connection ends, and nobody is logged in. ERGON_LONG=1 tries 25 times as many.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { makeVerifier, SCRAM } from '#databases/logins/scram.ts'
import { quiet } from '#postgres/testing.ts'
import { openCertificate } from './certificate.ts'
import { createFront } from './front.ts'
import { createLoginLimits } from './login-limits.ts'
import { createPipeMarks } from '#metering/pipe-marks.ts'
import {
  cancelMessage,
  int32,
  message,
  SSL_REQUEST,
  GSS_REQUEST,
  startupMessage,
} from '#wire/messages.ts'

const TIMES = process.env['ERGON_LONG'] === '1' ? 25 : 1
const SEED = Number(process.env['ERGON_SEED'] ?? Date.now() % 1_000_000)
const PLAIN_CASES = 2000 * TIMES
const TLS_CASES = 100 * TIMES
const PLANTED_CASES = 200
const ENDED_MAX_MS = 5000
/** A socket that has ended is kept for its last words for ten seconds: 5 KiB. */
const GROWTH_MAX_BYTES = 32 * 1024 * 1024
const PASSWORD = 0x70
const PIECES_MAX = 12

const STARTUP = startupMessage(new Map([['user', 'known']]))
const FIRST = Buffer.from('n,,n=,r=0123456789')
const SASL = message(PASSWORD, SCRAM, int32(FIRST.length), FIRST)
const LAST = message(PASSWORD, Buffer.from(`c=biws,r=0123456789,p=${'A'.repeat(43)}=`))
const SESSION = Buffer.concat([STARTUP, SASL, LAST])
const request = (code: number) => Buffer.concat([int32(8), int32(code)])
/** A TLS record of a handshake that has 200 bytes. */
const HELLO = Buffer.concat([Buffer.from([0x16, 3, 1, 0, 200]), Buffer.alloc(200, 1)])
/** Honest beginnings, which are spoiled. */
const BEGINNINGS: readonly Buffer[] = [
  SESSION,
  request(SSL_REQUEST),
  Buffer.concat([request(SSL_REQUEST), HELLO]),
  Buffer.concat([request(GSS_REQUEST), SESSION]),
  cancelMessage(Buffer.alloc(8)),
  HELLO,
  Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
]

const place = fc.nat(SESSION.length)
const change = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    at: place,
    bytes: fc.uint8Array({ maxLength: 8 }),
  }),
  fc.record({
    kind: fc.constant('put' as const),
    at: fc.constantFrom(0, 4, STARTUP.length + 1, STARTUP.length + SASL.length + 1),
    bytes: fc.integer().map((value) => int32(value)),
  }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: place,
    bytes: fc.uint8Array({ maxLength: 9000, size: 'max' }),
  }),
  fc.record({ kind: fc.constant('cut' as const), at: place, bytes: fc.constant(Buffer.alloc(0)) }),
)
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never
const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 })
const changes = fc.array(change, { minLength: 1, maxLength: 3 })
const stream = fc
  .tuple(fc.constantFrom(...BEGINNINGS), changes)
  .map(([beginning, list]) => list.reduce(changed, beginning))

function changed(bytes: Buffer, { kind, at, bytes: own }: Change): Buffer {
  const before = bytes.subarray(0, at)
  if (kind === 'cut') return before
  return Buffer.concat([before, own, bytes.subarray(kind === 'put' ? at + own.length : at)])
}

/** Sends the bytes in pieces and closes; rejects when the answer is none, or no end comes. */
async function tell(socket: Socket, bytes: Buffer, cuts: readonly number[]): Promise<Buffer> {
  const said: Buffer[] = []
  socket.on('data', (chunk: Buffer) => said.push(chunk)).on('error', () => undefined)
  const ended = Promise.withResolvers<void>()
  socket.once('close', () => ended.resolve())
  const late = setTimeout(
    () => ended.reject(new Error('the connection does not end')),
    ENDED_MAX_MS,
  )
  let at = 0
  for (let nth = 0; at < bytes.length; nth++) {
    const size = nth < PIECES_MAX ? (cuts[nth % cuts.length] ?? 1) : bytes.length
    if (socket.writable) socket.write(bytes.subarray(at, at + size))
    at += size
    await turn()
  }
  socket.end()
  await ended.promise.finally(() => {
    clearTimeout(late)
    socket.destroy()
  })
  return Buffer.concat(said)
}

/** Throws for bytes that no server sends before a login: of messages, only requests for SASL, and errors with a code. */
function demandProtocol(answer: Buffer): void {
  let rest = answer
  while (rest.length > 0) {
    const type = String.fromCharCode(rest[0] ?? 0)
    if (type === 'S' || type === 'N') {
      rest = rest.subarray(1)
      continue
    }
    // An alert of TLS is the last word.
    if (rest[0] === 0x15 || rest[0] === 0x16) return
    assert.match(type, /[REv]/, 'an answer of another type')
    const end = 1 + rest.readInt32BE(1)
    assert.ok(end >= 5 && end <= rest.length, 'an answer that is cut off')
    const body = rest.subarray(5, end)
    if (type === 'E') assert.match(body.toString(), /\0C[0-9A-Z]{5}\0M/, 'an error without a code')
    if (type === 'R') assert.ok([10, 11].includes(body.readInt32BE(0)), 'a stranger is logged in')
    rest = rest.subarray(end)
  }
}

const tcp = (port: number): Socket => connect(port, '127.0.0.1')
const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Rejects with the smallest case that it finds, or the first, and its seed. */
async function tryCases(server: Server, numRuns: number, endOnFailure = false): Promise<void> {
  const port = portOf(server)
  const property = fc.asyncProperty(stream, sizes, async (bytes, cuts) =>
    demandProtocol(await tell(tcp(port), bytes, cuts)),
  )
  await fc.assert(property, { numRuns, seed: SEED, endOnFailure })
}

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

let front: Server
let sessions = 0
const folder = mkdtempSync(join(tmpdir(), 'ergon-handshake-'))
before(async () => {
  const certificate = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const role = {
    name: 'known',
    serverRole: 'known',
    verifier: await makeVerifier('secret'),
    database: 'db_1',
    account: 'acct_1',
    databaseName: 'known',
    actual: 'deployed',
    wanted: 'deployed',
    held: null,
    reason: null,
  }
  const { server } = createFront({
    certificate: () => certificate,
    roleOf: async (name) => (name === 'known' ? role : undefined),
    cancels: { request: () => undefined },
    conversations: { converse: async () => void sessions++ },
    limits: createLoginLimits(systemClock, 1),
    marks: createPipeMarks(),
    absorb: () => undefined,
    clock: systemClock,
    log: quiet,
  })
  front = await listening(server)
})
after(() => {
  front.close()
  rmSync(folder, { recursive: true })
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const connections = () =>
  new Promise<number>((resolve) => front.getConnections((_, count) => resolve(count)))

test(`${PLAIN_CASES} spoiled handshakes end by the protocol, and leave nothing`, async (t) => {
  t.diagnostic(`ERGON_SEED=${SEED}`)
  await tryCases(front, PLAIN_CASES / 4)
  const before = usedBytes()
  await tryCases(front, PLAIN_CASES)
  const grown = usedBytes() - before
  t.diagnostic(`memory: ${Math.round(grown / 1024)} KiB more`)
  assert.ok(grown < GROWTH_MAX_BYTES, `${grown} bytes more`)
  assert.deepEqual([sessions, await connections()], [0, 0])
})

test(`${TLS_CASES} handshakes that are spoiled inside of TLS end by the protocol`, async () => {
  const port = portOf(front)
  const property = fc.asyncProperty(stream, sizes, async (bytes, cuts) => {
    const socket = connectTls({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ALPNProtocols: ['postgresql'],
    })
    demandProtocol(await tell(socket, bytes, cuts))
  })
  await fc.assert(property, { numRuns: TLS_CASES, seed: SEED })
  assert.equal(sessions, 0)
})

const PLANTED: Readonly<Record<string, readonly [(socket: Socket) => void, RegExp]>> = {
  'sends back what comes': [(socket) => socket.pipe(socket), /another type|cut off|code/],
  'does not end connections': [(socket) => socket.resume(), /does not end/],
  'answers without a code': [
    (socket) => socket.on('data', () => undefined).end(message(0x45, 'Mno', Buffer.from([0]))),
    /without a code/,
  ],
  'lets everybody in': [
    (socket) => socket.on('data', () => undefined).end(message(0x52, int32(0))),
    /logged in/,
  ],
}
for (const [what, [act, fault]] of Object.entries(PLANTED))
  test(`planted fault: a server that ${what} is found`, async (t) => {
    const open = new Set<Socket>()
    const planted = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket.on('error', () => undefined))
      act(socket)
    })
    t.after(() => {
      planted.close()
      for (const socket of open) socket.destroy()
    })
    const server = await listening(planted)
    await assert.rejects(tryCases(server, PLANTED_CASES, true), ({ cause }: Error) =>
      fault.test(String(cause)),
    )
  })
