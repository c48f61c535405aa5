// The pool against a server that lies, stalls or goes away: each query ends, and memory is bounded.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { sleep, systemClock } from '#base/clock.ts'
import {
  answeredWith,
  described,
  errorMessage,
  lyingServer,
  type ToLiar,
} from './lying-server.fixture.ts'
import { READY } from './messages.ts'
import { WirePool } from './pool.ts'

const RUNS = Number(process.env['ERGON_RUNS'] ?? 300)
const OPTIONS = { timeout: 60_000 }
/** Longer than any answer here takes, shorter than the limit of a test. */
const ANSWER_MS_MAX = 10_000

type PoolOptions = ConstructorParameters<typeof WirePool>[0]

const openPool = (login: PoolOptions['login'], more: Partial<PoolOptions> = {}) =>
  new WirePool({
    login,
    connections: 1,
    clock: systemClock,
    waitMsMax: ANSWER_MS_MAX,
    answerMsMax: ANSWER_MS_MAX,
    isHarmless: ({ code }) => code.startsWith('22'),
    lost: () => undefined,
    ...more,
  })

const honest = (asked: ToLiar): Buffer[] =>
  asked.kind === 'describe' ? described() : answeredWith([`of ${asked.text}`])

const write = (socket: Socket, messages: readonly Buffer[]) => socket.write(Buffer.concat(messages))

const ask = async (pool: WirePool, text: string) =>
  (await pool.ask('select $1 as answer', [text])).rows[0]?.['answer']

/** Lies about the answer to a query: other messages, or other bytes. */
const lie = fc.oneof(
  fc.record({ kind: fc.constant('cut'), at: fc.nat(60) }),
  fc.record({ kind: fc.constant('flip'), at: fc.nat(60), to: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('drop'), at: fc.nat(3) }),
  fc.record({ kind: fc.constant('twice'), at: fc.nat(3) }),
  fc.record({ kind: fc.constant('swap'), at: fc.nat(2) }),
  fc.record({
    kind: fc.constant('garbage'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 80 }),
  }),
)
type Lie = typeof lie extends fc.Arbitrary<infer L> ? L : never

function told(messages: readonly Buffer[], planned: Lie): Buffer {
  const list = [...messages]
  if ('bytes' in planned) list.unshift(Buffer.from(planned.bytes))
  else if (planned.kind === 'drop') list.splice(planned.at, 1)
  else if (planned.kind === 'twice') list.splice(planned.at, 0, list[planned.at] ?? READY)
  else if (planned.kind === 'swap')
    list.splice(planned.at, 2, ...list.slice(planned.at, planned.at + 2).toReversed())
  const bytes = Buffer.concat(list)
  if (planned.kind === 'cut' && 'at' in planned) return bytes.subarray(0, planned.at)
  if ('to' in planned) bytes[planned.at % bytes.length] = planned.to
  return bytes
}

/** Characters that differ; all of them for a value of another length, or no text. */
const differences = (value: unknown, wanted: string): number =>
  typeof value === 'string' && value.length === wanted.length
    ? [...value].filter((letter, at) => letter !== wanted[at]).length
    : wanted.length

/** Asks a server that lies at its third answer and then ends; what each of five queries came to. */
async function askLiar(login: PoolOptions['login']): Promise<PromiseSettledResult<unknown>[]> {
  await using pool = openPool(login)
  const ends = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((text) => ask(pool, text)))
  return ends
}

test(
  'whatever a server sends, each query ends, with its own answer or an error',
  OPTIONS,
  async (t) => {
    let planned: Lie = { kind: 'cut', at: 0 }
    let nth = 0
    let isDescriptionTrue = true
    const { login } = await lyingServer(t, (asked, socket) => {
      if (++nth < 3) return write(socket, honest(asked))
      if (asked.kind === 'describe') isDescriptionTrue = false
      socket.end(told(honest(asked), planned))
    })
    await fc.assert(
      fc.asyncProperty(lie, async (one) => {
        ;[planned, nth, isDescriptionTrue] = [one, 0, true]
        const ends = await askLiar(login)
        assert.equal(ends.length, 5)
        assert.equal(ends[0]?.status === 'fulfilled' && ends[0].value, 'of a')
        // Nobody gets the answer to another query. One byte of a text may be another: the text is the server's word.
        for (const [at, text] of ['b', 'c', 'd', 'e'].entries()) {
          const end = ends[at + 1]
          if (end?.status !== 'fulfilled') continue
          if (!('to' in one)) assert.equal(end.value, `of ${text}`)
          else if (isDescriptionTrue) assert.ok(differences(end.value, `of ${text}`) <= 1)
        }
      }),
      { numRuns: RUNS },
    )
  },
)

test(
  'a message of a length that none may have ends the connection before it has come',
  OPTIONS,
  async (t) => {
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'describe') return write(socket, described())
      if (asked.text === 'huge') socket.write(Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]))
      else socket.write(Buffer.from([0x44, 0, 0, 0, 3]))
    })
    await using pool = openPool(login)
    for (const text of ['huge', 'short'])
      await assert.rejects(ask(pool, text), { name: 'ProtocolError', message: /a message of/ })
  },
)

test('an answer without an end is ended by its bytes', OPTIONS, async (t) => {
  const piece = answeredWith(['x'.repeat(1_000_000)])[1] ?? READY
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') return write(socket, described())
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pour)
    socket.write(answeredWith([])[0] ?? READY)
    pour()
  })
  await using pool = openPool(login)
  await assert.rejects(ask(pool, 'a'), { name: 'ProtocolError', message: /more than/ })
})

test('messages that nobody asked for end an idle connection', OPTIONS, async (t) => {
  const lost: Error[] = []
  const { login } = await lyingServer(t, (asked, socket) =>
    write(socket, asked.kind === 'describe' ? described() : [...honest(asked), ...honest(asked)]),
  )
  await using pool = openPool(login, { lost: (error) => lost.push(error) })
  assert.equal(await ask(pool, 'a'), 'of a')
  assert.equal(lost[0]?.name, 'ProtocolError')
  assert.equal(await ask(pool, 'b'), 'of b', 'another connection')
})

test('a server that does not answer has a limit', OPTIONS, async (t) => {
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') write(socket, described())
  })
  await using pool = openPool(login, { answerMsMax: 100 })
  const ends = await Promise.allSettled([ask(pool, 'a'), ask(pool, 'b')])
  for (const end of ends)
    assert.match(String(end.status === 'rejected' && end.reason), /not answer(ed)? within 100 ms/)
})

/** Moves by hand. */
function handClock() {
  let nowMs = 0
  const timers = new Set<{ atMs: number; fire: () => void }>()
  return {
    clock: {
      monotonicMs: () => nowMs,
      setTimer(ms: number, fire: () => void) {
        const timer = { atMs: nowMs + ms, fire }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
    },
    advance(ms: number) {
      nowMs += ms
      for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.fire()
    },
  }
}

test('a query behind slow ones has a limit of its own', OPTIONS, async (t) => {
  const held: (() => void)[] = []
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') write(socket, described())
    else held.push(() => write(socket, honest(asked)))
  })
  let logins = 0
  const counted = () => {
    logins++
    return login()
  }
  const { clock, advance } = handClock()
  await using pool = openPool(counted, { clock, answerMsMax: 1000 })
  const [a, b] = [ask(pool, 'a'), ask(pool, 'b')]
  b.catch(() => undefined)
  while (held.length < 2) await sleep(5)
  advance(600)
  held[0]?.()
  assert.equal(await a, 'of a')
  advance(500)
  await assert.rejects(b, /The query was not answered within 1000 ms/)
  const c = ask(pool, 'c')
  held[1]?.()
  while (held.length < 3) await sleep(5)
  held[2]?.()
  assert.equal(await c, 'of c')
  assert.equal(logins, 1, 'the connection goes on')
})

test('a connection whose bytes the server does not take gets no more', OPTIONS, async (t) => {
  let paused: Socket | undefined
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'query' && asked.text !== 'first') paused ??= socket.pause()
    write(socket, honest(asked))
  })
  let own: Socket | undefined
  const kept = async () => {
    own = await login()
    return own
  }
  await using pool = openPool(kept)
  assert.equal(await ask(pool, 'first'), 'of first')
  // More than the kernel holds, and less than the limit of queries on the way.
  const texts = Array.from({ length: 60 }, (_, n) => String(n).padEnd(512 * 1024))
  const answers = Promise.all(texts.map((text) => ask(pool, text)))
  while (paused === undefined) await sleep(5)
  const unsent = own?.writableLength ?? 0
  paused.resume()
  assert.ok(unsent >= 1024 * 1024, `only ${unsent} bytes wait`)
  assert.ok(unsent < 2 * 1024 * 1024, `${unsent} bytes wait`)
  assert.deepEqual(
    await answers,
    texts.map((text) => `of ${text}`),
  )
})

test(
  'queries beyond what a connection may have on the way wait, and have a limit',
  OPTIONS,
  async (t) => {
    const held: { asked: ToLiar; socket: Socket }[] = []
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'describe') write(socket, described())
      else held.push({ asked, socket })
    })
    await using pool = openPool(login, { waitMsMax: 1000 })
    const ends = Promise.allSettled(Array.from({ length: 80 }, (_, n) => ask(pool, String(n))))
    while (held.length < 64) await sleep(5)
    await sleep(1500)
    assert.equal(held.length, 64)
    for (const { asked, socket } of held) write(socket, honest(asked))
    const list = await ends
    assert.equal(list.filter(({ status }) => status === 'fulfilled').length, 64)
    for (const end of list.slice(64))
      assert.match(String(end.status === 'rejected' && end.reason), /No connection was free within/)
  },
)

test('an error of a query is its own, a fatal one that of all', OPTIONS, async (t) => {
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') return write(socket, described())
    if (asked.text === 'bad') return write(socket, [errorMessage('ERROR', '22012'), READY])
    if (asked.text === 'fatal') return socket.end(errorMessage('FATAL', '57P01'))
    write(socket, honest(asked))
  })
  await using pool = openPool(login)
  const ends = async (texts: readonly string[]) =>
    (await Promise.allSettled(texts.map((text) => ask(pool, text)))).map((end) =>
      end.status === 'fulfilled' ? end.value : end.reason.code,
    )
  assert.deepEqual(await ends(['a', 'bad', 'b']), ['of a', '22012', 'of b'])
  assert.deepEqual(await ends(['a', 'fatal', 'b']), ['of a', '57P01', '57P01'])
  assert.deepEqual(await ends(['c']), ['of c'])
})

test(
  'a connection that cannot be opened fails nobody while another is open',
  OPTIONS,
  async (t) => {
    const held: Socket[] = []
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'query' && asked.text === 'slow') held.push(socket)
      else write(socket, honest(asked))
    })
    let logins = 0
    await using pool = openPool(
      () => (++logins === 2 ? Promise.reject(new Error('full')) : login()),
      {
        connections: 2,
        answerMsMax: 60_000,
        waitMsMax: 60_000,
      },
    )
    const slow = ask(pool, 'slow')
    while (held.length === 0) await sleep(5)
    const behind = ask(pool, 'a')
    while (logins < 2) await sleep(5)
    // The first connection ends; the query that went behind goes with it, the next one gets a third login.
    held[0]?.destroy()
    await assert.rejects(slow, { name: 'Unanswered' })
    await assert.rejects(behind, { name: 'Unanswered' })
    assert.equal(await ask(pool, 'b'), 'of b')
    assert.equal(logins, 3)
  },
)

test('where no connection can be opened all that wait fail at once', OPTIONS, async () => {
  let logins = 0
  const refuse = async () => {
    logins++
    await sleep(20)
    throw new Error('refused')
  }
  await using pool = openPool(refuse, { connections: 2 })
  const ends = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => ask(pool, `${n}`)))
  assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.message === 'refused'))
  assert.equal(logins, 2)
})

test('a query that others make wait before it is sent has the same limit', OPTIONS, async (t) => {
  let queries = 0
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') write(socket, described())
    else queries++
  })
  const opened = Promise.withResolvers<void>()
  const late = async () => {
    await opened.promise
    return await login()
  }
  const { clock, advance } = handClock()
  await using pool = openPool(late, { clock, answerMsMax: 1000 })
  const ends = Promise.allSettled([ask(pool, 'a'), ask(pool, 'b')])
  advance(600)
  opened.resolve()
  while (queries < 2) await sleep(5)
  advance(401)
  const last = await Promise.race([ends, sleep(2000)])
  advance(1000)
  assert.ok(Array.isArray(last), 'they wait for 1000 ms since they were sent')
  for (const end of last)
    assert.match(String(end.status === 'rejected' && end.reason), /within 1000 ms/)
})

test(
  'a query that has failed before its statement is described is not sent',
  OPTIONS,
  async (t) => {
    const asked: string[] = []
    let describe: (() => void) | undefined
    const { login } = await lyingServer(t, (one, socket) => {
      if (one.kind === 'describe') return void (describe = () => void write(socket, described()))
      asked.push(one.text)
      write(socket, honest(one))
    })
    const opened = Promise.withResolvers<void>()
    const late = async () => {
      await opened.promise
      return await login()
    }
    const { clock, advance } = handClock()
    await using pool = openPool(late, { clock, answerMsMax: 1000 })
    const first = ask(pool, 'first')
    advance(600)
    opened.resolve()
    while (describe === undefined) await sleep(5)
    advance(401)
    await assert.rejects(first, /The query was not answered within 1000 ms/)
    describe()
    assert.equal(await ask(pool, 'second'), 'of second')
    assert.deepEqual(asked, ['second'])
  },
)

test('queries that wait for a connection are at most 10,000', OPTIONS, async () => {
  const opened = Promise.withResolvers<Socket>()
  await using pool = openPool(() => opened.promise)
  const ends = Array.from({ length: 10_000 }, () => ask(pool, 'a'))
  const all = Promise.allSettled(ends)
  await assert.rejects(ask(pool, 'one more'), { name: 'Unanswered', message: /More than 10000/ })
  opened.reject(new Error('away'))
  assert.equal((await all).length, 10_000)
})

test('a connection has at most 100 statements', OPTIONS, async (t) => {
  const { login } = await lyingServer(t, (asked, socket) => write(socket, honest(asked)))
  await using pool = openPool(login)
  const of = (nth: number) => pool.ask(`select $1 as s${nth}`, [`${nth}`])
  for (let nth = 0; nth < 100; nth++) assert.equal((await of(nth)).rowCount, 1)
  await assert.rejects(of(100), { name: 'RangeError', message: /More than 100 statements/ })
  assert.equal((await of(99)).rowCount, 1)
})

test('an answer beyond its limit fails its query alone', OPTIONS, async (t) => {
  const rows = {
    many: Array<string>(10_001).fill('x'),
    wide: Array<string>(66).fill('x'.repeat(1024 * 1024)),
  }
  const most = Array<string>(10_000).fill('x')
  let logins = 0
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') return write(socket, described())
    const { text } = asked
    if (text === 'most') return write(socket, answeredWith(most))
    write(socket, text === 'many' || text === 'wide' ? answeredWith(rows[text]) : honest(asked))
  })
  const counted = () => {
    logins++
    return login()
  }
  await using pool = openPool(counted)
  assert.equal((await pool.ask('select $1 as answer', ['most'])).rows.length, 10_000)
  for (const text of ['many', 'wide']) {
    const [before, large, after] = await Promise.allSettled(
      ['a', text, 'b'].map((one) => ask(pool, one)),
    )
    assert.deepEqual(
      [before, after],
      ['a', 'b'].map((one) => ({ status: 'fulfilled', value: `of ${one}` })),
    )
    assert.match(String(large?.status === 'rejected' && large.reason), /RangeError: .* more than/)
  }
  assert.equal(logins, 1)
})
