// The pool against a server that lies: each query ends, and memory is bounded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answeredWith, described, lyingServer } from './lying-server.fixture.ts'
import { READY } from './messages.ts'
import {
  askPool,
  honest,
  openTestPool,
  type TestPoolOptions,
  WITHIN_A_MINUTE,
  writeAll,
} from './pool.fixture.ts'

const RUNS = Number(process.env['ERGON_RUNS'] ?? 300)

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
async function askLiar(login: TestPoolOptions['login']): Promise<PromiseSettledResult<unknown>[]> {
  await using pool = openTestPool(login)
  const ends = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e'].map((text) => askPool(pool, text)),
  )
  return ends
}

test(
  'whatever a server sends, each query ends, with its own answer or an error',
  WITHIN_A_MINUTE,
  async (t) => {
    let planned: Lie = { kind: 'cut', at: 0 }
    let nth = 0
    let isDescriptionTrue = true
    const { login } = await lyingServer(t, (asked, socket) => {
      if (++nth < 3) return writeAll(socket, honest(asked))
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
  WITHIN_A_MINUTE,
  async (t) => {
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'describe') return writeAll(socket, described())
      if (asked.text === 'huge') socket.write(Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]))
      else socket.write(Buffer.from([0x44, 0, 0, 0, 3]))
    })
    await using pool = openTestPool(login)
    for (const text of ['huge', 'short'])
      await assert.rejects(askPool(pool, text), { name: 'ProtocolError', message: /a message of/ })
  },
)

test('an answer without an end is ended by its bytes', WITHIN_A_MINUTE, async (t) => {
  const piece = answeredWith(['x'.repeat(1_000_000)])[1] ?? READY
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') return writeAll(socket, described())
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pour)
    socket.write(answeredWith([])[0] ?? READY)
    pour()
  })
  await using pool = openTestPool(login)
  await assert.rejects(askPool(pool, 'a'), { name: 'ProtocolError', message: /more than/ })
})

test('messages that nobody asked for end an idle connection', WITHIN_A_MINUTE, async (t) => {
  const lost: Error[] = []
  const { login } = await lyingServer(t, (asked, socket) =>
    writeAll(
      socket,
      asked.kind === 'describe' ? described() : [...honest(asked), ...honest(asked)],
    ),
  )
  await using pool = openTestPool(login, { lost: (error) => lost.push(error) })
  assert.equal(await askPool(pool, 'a'), 'of a')
  assert.equal(lost[0]?.name, 'ProtocolError')
  assert.equal(await askPool(pool, 'b'), 'of b', 'another connection')
})
