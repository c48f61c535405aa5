import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { relay, STILL_THERE } from './relay.ts'
import { socketPair } from './socket-pair.fixture.ts'
import { fatalMessage, message, queryMessage, READY, TERMINATE, TYPE } from '#wire/messages.ts'

async function session(t: TestContext) {
  const [driver, client] = await socketPair(t)
  const [backend, server] = await socketPair(t)
  const told: Buffer[] = []
  driver.on('data', (chunk: Buffer) => told.push(chunk))
  return {
    client,
    driver,
    backend,
    server,
    session: relay(client, backend, () => undefined),
    told: () => Buffer.concat(told),
  }
}

const FATAL = { code: '53400', message: 'no', hint: 'pay' }
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

test('a server that ends without words is told to the client, between two messages', async (t) => {
  const heard = async (said: Buffer) => {
    const { driver, server, session: own, told } = await session(t)
    driver.write(queryMessage('select 1'))
    await once(server, 'data')
    server.write(said)
    await once(driver, 'data')
    server.destroy()
    assert.equal(await own.ended, 'backend-gone')
    await once(driver, 'close')
    assert.ok(told().subarray(0, said.length).equals(said))
    return told().subarray(said.length).toString()
  }
  assert.match(await heard(ROW), /^E.*SFATAL\0.*C57P02\0/s)
  assert.equal(await heard(ROW.subarray(0, 50)), '', 'in the middle of a message')
  const last = fatalMessage({ code: '57P01', message: 'terminated', hint: 'again' })
  assert.equal(await heard(last), '', 'the server has had its last word')
  // An error of a query is no last word: the server is ready behind it.
  assert.match(
    await heard(Buffer.concat([last, message(TYPE.ready, Buffer.from('I'))])),
    /C57P02\0/,
  )
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
  const endAfter = async (said: readonly Buffer[], ...answers: readonly string[]) => {
    const { driver, server, session: own } = await session(t)
    driver.write(Buffer.concat(said))
    await once(server, 'data')
    for (const status of answers) server.write(message(TYPE.ready, Buffer.from(status)))
    if (answers.length > 0) await once(driver, 'data')
    driver.write(TERMINATE)
    return await own.ended
  }
  const begin = queryMessage('begin')
  assert.equal(await endAfter([begin], 'I'), 'idle')
  assert.equal(await endAfter([begin], 'T'), 'busy')
  assert.equal(await endAfter([begin]), 'busy')
  const [parse, sync] = [message(0x50, '', 'select 1'), message(TYPE.sync)]
  assert.equal(await endAfter([parse, sync], 'I'), 'idle')
  assert.equal(await endAfter([parse]), 'busy')
  assert.equal(await endAfter([begin, parse], 'I'), 'busy')
  const [copied, done] = [message(0x64, 'row'), message(0x63)]
  assert.equal(await endAfter([queryMessage('copy t from stdin'), copied, done], 'I'), 'idle')
  assert.equal(READY.at(-1), 0x49)
})

/** Writes rows until `from` is not read any more, then reads `to`; all bytes arrive, and the proxy keeps few of them. */
async function flood(from: Socket, to: Socket, between: Socket): Promise<void> {
  to.pause()
  const sent = createHash('sha256')
  let left = 0
  for (let nth = 0; from.writableLength < 4_000_000; nth++) {
    const row = message(ROW[0] ?? 0, Buffer.alloc(100_000, nth))
    sent.update(row)
    left += row.length
    from.write(row)
    assert.ok(left < 100_000_000, 'the proxy reads on while nobody takes what it has')
    await pause(1)
  }
  assert.ok(between.writableLength < 500_000, `the proxy keeps ${between.writableLength} bytes`)
  const got = createHash('sha256')
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const take = (chunk: Buffer) => {
    got.update(chunk)
    left -= chunk.length
    if (left > 0) return
    // Later it may get a probe, which is no row.
    to.off('data', take)
    resolve()
  }
  to.on('data', take)
  to.resume()
  await all
  assert.equal(got.digest('hex'), sent.digest('hex'))
}

test('a side that does not read stops the other one, and every byte comes as it was sent', async (t) => {
  const both = [await session(t), await session(t)]
  await Promise.all(both.map(({ driver, client, server }) => flood(server, driver, client)))
  // A client that is not read is probed after a second, so it must not be a reader at the same time.
  await Promise.all(both.map(({ driver, backend, server }) => flood(driver, server, backend)))
})
