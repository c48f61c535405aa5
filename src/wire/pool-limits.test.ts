// Queries that wait for a server have limits of time, number and bytes.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { answeredWith, described, lyingServer, type ToLiar } from './lying-server.fixture.ts'
import {
  askPool,
  handClock,
  honest,
  openTestPool,
  WITHIN_A_MINUTE,
  writeAll,
} from './pool.fixture.ts'

test('a server that does not answer has a limit', WITHIN_A_MINUTE, async (t) => {
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') writeAll(socket, described())
  })
  await using pool = openTestPool(login, { answerMsMax: 100 })
  const ends = await Promise.allSettled([askPool(pool, 'a'), askPool(pool, 'b')])
  for (const end of ends)
    assert.match(String(end.status === 'rejected' && end.reason), /not answer(ed)? within 100 ms/)
})

test('a query behind slow ones has a limit of its own', WITHIN_A_MINUTE, async (t) => {
  const held: (() => void)[] = []
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') writeAll(socket, described())
    else held.push(() => writeAll(socket, honest(asked)))
  })
  let logins = 0
  const counted = () => {
    logins++
    return login()
  }
  const { clock, advance } = handClock()
  await using pool = openTestPool(counted, { clock, answerMsMax: 1000 })
  const [a, b] = [askPool(pool, 'a'), askPool(pool, 'b')]
  b.catch(() => undefined)
  while (held.length < 2) await sleep(5)
  advance(600)
  held[0]?.()
  assert.equal(await a, 'of a')
  advance(500)
  await assert.rejects(b, /The query was not answered within 1000 ms/)
  const c = askPool(pool, 'c')
  held[1]?.()
  while (held.length < 3) await sleep(5)
  held[2]?.()
  assert.equal(await c, 'of c')
  assert.equal(logins, 1, 'the connection goes on')
})

test(
  'a connection whose bytes the server does not take gets no more',
  WITHIN_A_MINUTE,
  async (t) => {
    let paused: Socket | undefined
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'query' && asked.text !== 'first') paused ??= socket.pause()
      writeAll(socket, honest(asked))
    })
    let own: Socket | undefined
    const kept = async () => {
      own = await login()
      return own
    }
    await using pool = openTestPool(kept)
    assert.equal(await askPool(pool, 'first'), 'of first')
    // More than the kernel holds, and less than the limit of queries on the way.
    const texts = Array.from({ length: 60 }, (_, n) => String(n).padEnd(512 * 1024))
    const answers = Promise.all(texts.map((text) => askPool(pool, text)))
    while (paused === undefined) await sleep(5)
    const unsent = own?.writableLength ?? 0
    paused.resume()
    assert.ok(unsent >= 1024 * 1024, `only ${unsent} bytes wait`)
    assert.ok(unsent < 2 * 1024 * 1024, `${unsent} bytes wait`)
    assert.deepEqual(
      await answers,
      texts.map((text) => `of ${text}`),
    )
  },
)

test(
  'queries beyond what a connection may have on the way wait, and have a limit',
  WITHIN_A_MINUTE,
  async (t) => {
    const held: { asked: ToLiar; socket: Socket }[] = []
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'describe') writeAll(socket, described())
      else held.push({ asked, socket })
    })
    await using pool = openTestPool(login, { waitMsMax: 1000 })
    const ends = Promise.allSettled(Array.from({ length: 80 }, (_, n) => askPool(pool, String(n))))
    while (held.length < 64) await sleep(5)
    await sleep(1500)
    assert.equal(held.length, 64)
    for (const { asked, socket } of held) writeAll(socket, honest(asked))
    const list = await ends
    assert.equal(list.filter(({ status }) => status === 'fulfilled').length, 64)
    for (const end of list.slice(64))
      assert.match(String(end.status === 'rejected' && end.reason), /No connection was free within/)
  },
)

test(
  'a query that others make wait before it is sent has the same limit',
  WITHIN_A_MINUTE,
  async (t) => {
    let queries = 0
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'describe') writeAll(socket, described())
      else queries++
    })
    const opened = Promise.withResolvers<void>()
    const late = async () => {
      await opened.promise
      return await login()
    }
    const { clock, advance } = handClock()
    await using pool = openTestPool(late, { clock, answerMsMax: 1000 })
    const ends = Promise.allSettled([askPool(pool, 'a'), askPool(pool, 'b')])
    advance(600)
    opened.resolve()
    while (queries < 2) await sleep(5)
    advance(401)
    const last = await Promise.race([ends, sleep(2000)])
    advance(1000)
    assert.ok(Array.isArray(last), 'they wait for 1000 ms since they were sent')
    for (const end of last)
      assert.match(String(end.status === 'rejected' && end.reason), /within 1000 ms/)
  },
)

test(
  'a query that has failed before its statement is described is not sent',
  WITHIN_A_MINUTE,
  async (t) => {
    const asked: string[] = []
    let describe: (() => void) | undefined
    const { login } = await lyingServer(t, (one, socket) => {
      if (one.kind === 'describe') return void (describe = () => void writeAll(socket, described()))
      asked.push(one.text)
      writeAll(socket, honest(one))
    })
    const opened = Promise.withResolvers<void>()
    const late = async () => {
      await opened.promise
      return await login()
    }
    const { clock, advance } = handClock()
    await using pool = openTestPool(late, { clock, answerMsMax: 1000 })
    const first = askPool(pool, 'first')
    advance(600)
    opened.resolve()
    while (describe === undefined) await sleep(5)
    advance(401)
    await assert.rejects(first, /The query was not answered within 1000 ms/)
    describe()
    assert.equal(await askPool(pool, 'second'), 'of second')
    assert.deepEqual(asked, ['second'])
  },
)

test('queries that wait for a connection are at most 10,000', WITHIN_A_MINUTE, async () => {
  const opened = Promise.withResolvers<Socket>()
  await using pool = openTestPool(() => opened.promise)
  const ends = Array.from({ length: 10_000 }, () => askPool(pool, 'a'))
  const all = Promise.allSettled(ends)
  await assert.rejects(askPool(pool, 'one more'), {
    name: 'Failure',
    message: /More than 10000/,
  })
  opened.reject(new Error('away'))
  assert.equal((await all).length, 10_000)
})

test('a connection has at most 100 statements', WITHIN_A_MINUTE, async (t) => {
  const { login } = await lyingServer(t, (asked, socket) => writeAll(socket, honest(asked)))
  await using pool = openTestPool(login)
  const of = (nth: number) => pool.ask(`select $1 as s${nth}`, [`${nth}`])
  for (let nth = 0; nth < 100; nth++) assert.equal((await of(nth)).rowCount, 1)
  await assert.rejects(of(100), { name: 'RangeError', message: /More than 100 statements/ })
  assert.equal((await of(99)).rowCount, 1)
})

test('an answer beyond its limit fails its query alone', WITHIN_A_MINUTE, async (t) => {
  const rows = {
    many: Array<string>(10_001).fill('x'),
    wide: Array<string>(66).fill('x'.repeat(1024 * 1024)),
  }
  const most = Array<string>(10_000).fill('x')
  let logins = 0
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') return writeAll(socket, described())
    const { text } = asked
    if (text === 'most') return writeAll(socket, answeredWith(most))
    writeAll(socket, text === 'many' || text === 'wide' ? answeredWith(rows[text]) : honest(asked))
  })
  const counted = () => {
    logins++
    return login()
  }
  await using pool = openTestPool(counted)
  assert.equal((await pool.ask('select $1 as answer', ['most'])).rows.length, 10_000)
  for (const text of ['many', 'wide']) {
    const [before, large, after] = await Promise.allSettled(
      ['a', text, 'b'].map((one) => askPool(pool, one)),
    )
    assert.deepEqual(
      [before, after],
      ['a', 'b'].map((one) => ({ status: 'fulfilled', value: `of ${one}` })),
    )
    assert.match(String(large?.status === 'rejected' && large.reason), /RangeError: .* more than/)
  }
  assert.equal(logins, 1)
})
