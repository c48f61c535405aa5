// Calls of gRPC through the ingress, with the client and the server of @grpc/grpc-js.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createSecureContext } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as grpc from '@grpc/grpc-js'
import { FUNCTION_BODY_BYTES_MAX } from '#contract/functions/function-limits.ts'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { openInstance } from '#ingress/instance.fixture.ts'
import { openInstancePool } from '#ingress/instance-pool.ts'
import type { RoutedKind } from '#ingress/kinds.ts'
import { listenPlain, listenTls } from '#ingress/server.ts'
import { NO_WORK } from '#ingress/uncounted.fixture.ts'

/** Much more than the buffers of all connections on the way. */
const HELD_BYTES = 64_000_000

const same = (bytes: Buffer) => bytes
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
})
const SERVICE = {
  one: method('One', false, false),
  many: method('Many', false, true),
  both: method('Both', true, true),
} satisfies grpc.ServiceDefinition
const Client = grpc.makeGenericClientConstructor(SERVICE, 'Echo')

type Unary = grpc.ServerUnaryCall<Buffer, Buffer>
type Streamed = grpc.ServerWritableStream<Buffer, Buffer>
type Both = grpc.ServerDuplexStream<Buffer, Buffer>
type Calls = {
  one(
    bytes: Buffer,
    metadata: grpc.Metadata,
    options: grpc.CallOptions,
    done: grpc.requestCallback<Buffer>,
  ): grpc.ClientUnaryCall
  many(bytes: Buffer): grpc.ClientReadableStream<Buffer>
  both(): grpc.ClientDuplexStream<Buffer, Buffer>
}

type Instance = {
  one(call: Unary, done: grpc.sendUnaryData<Buffer>): void
  many(call: Streamed): void
  both(call: Both): void
}
const ECHO: Instance = {
  one: ({ request }, done) => done(null, request),
  many(call) {
    for (let nth = 0; nth < 3; nth++) call.write(Buffer.from(`${String(call.request)} ${nth}`))
    call.end()
  },
  both: (call) => void call.on('data', (bytes) => call.write(bytes)).on('end', () => call.end()),
}

const PORTS = ['by TLS', 'in the clear'] as const
type Port = (typeof PORTS)[number]
/** One test for each port of the ingress. */
const testBoth = (name: string, run: (t: TestContext, port: Port) => Promise<void>): void => {
  for (const port of PORTS) test(`${name}, ${port}`, (t) => run(t, port))
}

/** A client of a server behind the ingress. */
async function open(
  t: TestContext,
  instance: Partial<Instance>,
  { kind = 'workload', port = 'by TLS' }: { kind?: RoutedKind; port?: Port } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-grpc-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const address = `unix:${join(folder, 'instance')}`
  const server = new grpc.Server()
  server.addService(SERVICE, { ...ECHO, ...instance })
  const credentials = grpc.ServerCredentials.createInsecure()
  await promisify(server.bindAsync.bind(server))(address, credentials)
  t.after(() => server.forceShutdown())
  const { deps, users } = await openInstance(t, () => undefined, { kind })
  const pool = openInstancePool(address, NO_WORK)
  t.after(() => pool.destroy())
  const uses: typeof deps.uses = {
    async begin(route, ending) {
      return { ...(await deps.uses.begin(route, ending)), pool }
    },
  }
  const pair = testCertificate('localhost')
  const context = createSecureContext(pair)
  const listen = { host: '127.0.0.1', port: 0 }
  const isSecure = port === 'by TLS'
  const front = isSecure
    ? await listenTls({ ...deps, uses, listen }, () => context)
    : await listenPlain({ ...deps, uses, listen })
  t.after(() => front.drain())
  const by = isSecure
    ? grpc.credentials.createSsl(Buffer.from(pair.cert))
    : grpc.credentials.createInsecure()
  const client = new Client(`localhost:${front.port}`, by, {
    'grpc.enable_retries': 0,
  }) as unknown as Calls & grpc.Client
  t.after(() => client.close())
  return { client, users, server, front, pool }
}

async function untilUnused(users: ReadonlySet<unknown>): Promise<void> {
  for (let nth = 0; users.size > 0; nth++) {
    assert.ok(nth < 200, 'the use has not ended')
    await pause(10)
  }
}

const told = (error: unknown) => error as grpc.ServiceError
/** A call of one message: its answer, and the trailers. */
const ask = (client: Calls, bytes: Buffer, options: grpc.CallOptions = {}) => {
  const metadata = new grpc.Metadata()
  metadata.set('x-own', 'kept')
  return new Promise<{ answer: Buffer; trailers: grpc.Metadata }>((resolve, reject) => {
    let answer: Buffer = Buffer.alloc(0)
    const call = client.one(bytes, metadata, options, (error, value) =>
      error === null ? (answer = value ?? answer) : reject(error),
    )
    call.once(
      'status',
      ({ code, metadata: trailers }) => code === 0 && resolve({ answer, trailers }),
    )
  })
}

testBoth('a call of gRPC has its answer, its metadata and its trailers', async (t, port) => {
  const { client, users } = await open(
    t,
    {
      one({ request, metadata, getPeer }, done) {
        const trailers = new grpc.Metadata()
        trailers.set('x-count', '7')
        trailers.set('x-energy-joules', 'forged')
        assert.ok(getPeer !== undefined)
        const names = ['x-own', 'x-forwarded-proto', 'x-forwarded-for']
        const seen = names.flatMap((name) => metadata.get(name)).join(' ')
        done(null, Buffer.concat([request, Buffer.from(seen)]), trailers)
      },
    },
    { port },
  )
  const { answer, trailers } = await ask(client, Buffer.from('hello '))
  assert.equal(String(answer), `hello kept ${port === 'by TLS' ? 'https' : 'http'} 127.0.0.1`)
  assert.deepEqual(trailers.get('x-count'), ['7'])
  assert.deepEqual(trailers.get('x-energy-joules'), [])
  await untilUnused(users)
})

test('messages of megabytes go through', async (t) => {
  const { client } = await open(t, {})
  const bytes = Buffer.alloc(3_000_000, 'joule')
  const { answer } = await ask(client, bytes)
  assert.ok(answer.equals(bytes))
})

testBoth(
  'a stream of the server arrives, and one of both sides goes back and forth',
  async (t, port) => {
    const { client } = await open(t, {}, { port })
    const seen: string[] = []
    for await (const bytes of client.many(Buffer.from('hi'))) seen.push(String(bytes))
    assert.deepEqual(seen, ['hi 0', 'hi 1', 'hi 2'])
    const call = client.both()
    for (const text of ['a', 'b', 'c']) {
      call.write(Buffer.from(text))
      // The next is sent only when this one is back.
      const [bytes] = (await once(call, 'data')) as [Buffer]
      assert.equal(String(bytes), text)
    }
    call.end()
    const [status] = (await once(call, 'status')) as [grpc.StatusObject]
    assert.equal(status.code, grpc.status.OK)
  },
)

testBoth(
  'an error has its status and its message, with messages before and without',
  async (t, port) => {
    const fails = { code: grpc.status.NOT_FOUND, details: 'no such thing' }
    const { client } = await open(
      t,
      {
        one: (_call, done) => done(fails),
        many(call) {
          call.write(Buffer.from('first'))
          call.emit('error', fails)
        },
      },
      { port },
    )
    await assert.rejects(ask(client, Buffer.from('x')), fails)
    const call = client.many(Buffer.from('x'))
    const seen: string[] = []
    await assert.rejects(async () => {
      for await (const bytes of call) seen.push(String(bytes))
    }, fails)
    assert.deepEqual(seen, ['first'])
  },
)

testBoth(
  'a client that cancels, or whose deadline passes, ends the call at the instance',
  async (t, port) => {
    const ended: Promise<unknown>[] = []
    const isHere = Promise.withResolvers<void>()
    const { client, users } = await open(
      t,
      {
        one: (call) => void ended.push(once(call, 'cancelled')),
        both(call) {
          ended.push(once(call, 'cancelled'))
          isHere.resolve()
        },
      },
      { port },
    )
    const call = client.both()
    call.on('error', () => undefined)
    call.write(Buffer.from('x'))
    await isHere.promise
    call.cancel()
    await ended[0]
    const late = ask(client, Buffer.from('x'), { deadline: Date.now() + 300 })
    await assert.rejects(late, { code: grpc.status.DEADLINE_EXCEEDED })
    await ended[1]
    await untilUnused(users)
  },
)

test('a refusal is a status of gRPC with the reason', async (t) => {
  const { front } = await open(t, {})
  const other = new Client(
    `127.0.0.1:${front.port}`,
    grpc.credentials.createSsl(null, null, null, { rejectUnauthorized: false }),
    { 'grpc.default_authority': 'nobody.example' },
  ) as unknown as Calls & grpc.Client
  t.after(() => other.close())
  const error = await ask(other, Buffer.from('x')).then(() => undefined, told)
  assert.equal(error?.code, grpc.status.UNIMPLEMENTED)
  assert.match(error?.details ?? '', /Could not find a route/)
})

test('a call that its server cuts off is an error, not a whole answer', async (t) => {
  const { client, server } = await open(t, {
    both: (call) =>
      void call.on('data', (bytes) =>
        String(bytes) === 'end' ? server.forceShutdown() : call.write(bytes),
      ),
  })
  const call = client.both()
  call.write(Buffer.from('x'))
  await once(call, 'data')
  call.write(Buffer.from('end'))
  const [error] = (await once(call, 'error')) as [grpc.ServiceError]
  assert.notEqual(error.code, grpc.status.OK)
})

testBoth(
  'a call of more bytes than the limit is refused, and ended at the instance',
  async (t, port) => {
    const isCancelled = Promise.withResolvers<void>()
    const { client, users } = await open(
      t,
      {
        both(call) {
          call.once('cancelled', () => isCancelled.resolve())
          call.resume()
        },
      },
      { kind: 'function', port },
    )
    const call = client.both()
    const failed = once(call, 'error') as Promise<[grpc.ServiceError]>
    const bytes = Buffer.alloc(3_000_000)
    for (let sent = 0; sent <= FUNCTION_BODY_BYTES_MAX; sent += bytes.length) call.write(bytes)
    const [error] = await failed
    assert.equal(error.code, grpc.status.RESOURCE_EXHAUSTED)
    assert.match(error.details, /the most is/)
    await isCancelled.promise
    await untilUnused(users)
  },
)

test('an answer that its client does not read is held back at the instance', async (t) => {
  const block = Buffer.alloc(64_000)
  let sent = 0
  const { front } = await open(t, {
    many(call) {
      const write = () => {
        while (sent < HELD_BYTES && call.write(block)) sent += block.length
      }
      call.on('drain', write)
      write()
    },
  })
  const session = connect(`https://localhost:${front.port}`, { rejectUnauthorized: false })
  t.after(() => session.destroy())
  const call = session.request({
    ':method': 'POST',
    ':path': SERVICE.many.path,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  // At the end of the test the instance ends in the middle of its answer.
  call.on('error', () => undefined)
  // An empty message.
  call.end(Buffer.alloc(5))
  await once(call, 'response')
  let before = -1
  while (sent !== before) {
    before = sent
    await pause(300)
  }
  assert.ok(sent > 0 && sent < HELD_BYTES, `${sent} bytes were taken`)
})

test('a connection to the instance without calls is ended, and made again', async (t) => {
  const { client, pool } = await open(t, {})
  await ask(client, Buffer.from('x'))
  const session = await pool.grpc.open()
  for (let left = 500; !session.isGone; left--) {
    assert.ok(left > 0, 'the connection stays')
    await pause(10)
  }
  const { answer } = await ask(client, Buffer.from('again'))
  assert.equal(String(answer).slice(0, 5), 'again')
})
