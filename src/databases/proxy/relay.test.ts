import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { relay, STILL_THERE } from './relay.ts'
import { message, queryMessage, READY, TERMINATE, TYPE } from './wire.ts'

/** Both ends of a connection. */
async function pair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const near = connect(port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  server.close()
  for (const socket of [near, far]) socket.on('error', () => undefined)
  t.after(() => [near, far].forEach((socket) => socket.destroy()))
  return [near, far]
}

async function session(t: TestContext) {
  const [driver, client] = await pair(t)
  const [backend, server] = await pair(t)
  const told: Buffer[] = []
  driver.on('data', (chunk: Buffer) => told.push(chunk))
  return {
    driver,
    backend,
    server,
    session: relay(client, backend, () => undefined),
    told: () => Buffer.concat(told),
  }
}

const FATAL = { code: '53400', message: 'no' }
const ROW = message(0x44, Buffer.alloc(100))

test('a cut waits for the end of a message', async (t) => {
  const { driver, server, session: own, told } = await session(t)
  driver.write(queryMessage('select 1'))
  await once(server, 'data')
  server.write(ROW.subarray(0, 50))
  await once(driver, 'data')
  own.cut(FATAL)
  await pause(50)
  assert.deepEqual(told(), ROW.subarray(0, 50))
  server.write(ROW.subarray(50))
  assert.equal(await own.ended, 'busy')
  await once(driver, 'close')
  assert.ok(told().subarray(0, ROW.length).equals(ROW))
  assert.match(told().subarray(ROW.length).toString(), /^E.*C53400\0/s)
})

test('a client that goes while its bytes wait for the server is noticed', async (t) => {
  const { driver, session: own, told } = await session(t)
  const piece = queryMessage(' '.repeat(1_000_000))
  while (driver.writableLength < 2_000_000) {
    driver.write(piece)
    await pause(1)
  }
  while (told().length === 0) await pause(10)
  assert.deepEqual(told(), STILL_THERE, 'a message that says nothing new')
  driver.destroy()
  assert.equal(await own.ended, 'busy')
})

test('a session that has ended leaves its backend alone, whatever was planned', async (t) => {
  const { driver, backend, server, session: own } = await session(t)
  driver.write(queryMessage('select 1'))
  await once(server, 'data')
  server.write(ROW.subarray(0, 50))
  await once(driver, 'data')
  own.cut(FATAL)
  driver.write(TERMINATE)
  assert.equal(await own.ended, 'busy')
  backend.resume()
  await pause(1100)
  assert.ok(!backend.isPaused())
})

test('a backend is idle after the last answer, and busy before or in a transaction', async (t) => {
  const endAfter = async (status: string, answers: number) => {
    const { driver, server, session: own } = await session(t)
    driver.write(queryMessage('begin'))
    await once(server, 'data')
    for (let n = 0; n < answers; n++) server.write(message(TYPE.ready, Buffer.from(status)))
    if (answers > 0) await once(driver, 'data')
    driver.write(TERMINATE)
    return await own.ended
  }
  assert.equal(await endAfter('I', 1), 'idle')
  assert.equal(await endAfter('T', 1), 'busy')
  assert.equal(await endAfter('I', 0), 'busy')
  assert.equal(READY.at(-1), 0x49)
})
