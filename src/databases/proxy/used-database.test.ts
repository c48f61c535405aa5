import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { NotAwake, type Awake } from '#databases/agent-socket/awake.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import type { FatalError } from '#wire/messages.ts'
import { createUses } from './uses.ts'

const DATABASE = { name: 'u_1', database: 'db_1', databaseName: 'notes', account: 'acct_1' }
const SPENT: FatalError = { code: '53400', message: 'spent', hint: 'try again' }
const LEFT = new Error('the client has left')
const here = new AbortController().signal

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let nth = 0; !holds(); nth++) {
    assert.ok(nth < 500, what)
    await pause(10)
  }
}

async function leaves(session: Promise<unknown>): Promise<void> {
  let why: unknown
  session.catch((error: unknown) => (why = error))
  await until('a session whose client left ends', () => why !== undefined)
  assert.equal(why, LEFT)
}

/** Uses of a database whose server starts once the test says so, and what was asked and ended. */
function open(given: { readonly sessions?: number; readonly more?: Awake['more'] } = {}) {
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<FatalError>()
  const seen = { wakes: 0, unwanted: 0, released: 0, bills: 0, billsEnded: 0 }
  const awake: Awake = {
    socketPath: '/db/.s.PGSQL.5432',
    sessions: given.sessions ?? SESSIONS_MAX,
    warning: null,
    logins: ['u_1'],
    onLogins: () => undefined,
    onCut: () => undefined,
    onRecall: () => 0,
    more: given.more ?? (async () => undefined),
    ended: ended.promise,
    // As the end of the request to the agent does.
    release() {
      seen.released++
      ended.resolve({ code: '57P03', message: 'away', hint: 'try again' })
    },
  }
  const uses = createUses({
    wake: (_, signal) => {
      seen.wakes++
      const unwanted = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          seen.unwanted++
          reject(signal.reason as Error)
        }),
      )
      return Promise.race([started.promise.then(() => awake), unwanted])
    },
    bill: async () => {
      seen.bills++
      return {
        mark: () => undefined,
        piece: () => undefined,
        addLogin: () => undefined,
        cut: new Promise<FatalError>(() => undefined),
        end: async () => void seen.billsEnded++,
      }
    },
  })
  return { uses, awake, seen, start: () => started.resolve(), end: ended.resolve }
}

test('a session that ends while its server starts gives its place to the next one', async () => {
  const { uses, start } = open()
  const leaving = new AbortController()
  const take = () => uses.take(DATABASE, leaving.signal)
  const waiting = Array.from({ length: SESSIONS_MAX }, take)
  assert.equal(await uses.take(DATABASE, here), undefined)
  leaving.abort(LEFT)
  await Promise.all(waiting.map(leaves))
  const next = uses.take(DATABASE, here)
  start()
  assert.ok(await next)
})

test('a session that ends while it waits for a larger share gives its place back', async () => {
  const never = new Promise<void>(() => undefined)
  const { uses, awake, start } = open({ sessions: 1, more: () => never })
  start()
  await uses.take(DATABASE, here)
  const leaving = new AbortController()
  const waiting = uses.take(DATABASE, leaving.signal)
  await until('the second one waits', () => awake.onRecall() === 2)
  leaving.abort(LEFT)
  await leaves(waiting)
  assert.equal(awake.onRecall(), 1)
})

test('one refusal of a larger share makes room for the next session that waits', async () => {
  const refused = Promise.withResolvers<void>()
  const { uses, awake, start } = open({ sessions: 1, more: () => refused.promise })
  start()
  const first = await uses.take(DATABASE, here)
  const waiting = [uses.take(DATABASE, here), uses.take(DATABASE, here)]
  await until('both wait', () => awake.onRecall() === 3)
  first?.release()
  refused.resolve()
  const [one, other] = await Promise.all(waiting)
  assert.equal(one, undefined)
  assert.ok(other)
})

test('a server that starts for nobody is not wanted any more, and is not billed', async () => {
  const { uses, seen } = open()
  const leaving = new AbortController()
  const waiting = uses.take(DATABASE, leaving.signal)
  leaving.abort(LEFT)
  await leaves(waiting)
  await until('the bill ends', () => seen.billsEnded === 1)
  assert.deepEqual(seen, { wakes: 1, unwanted: 1, released: 0, bills: 1, billsEnded: 1 })
  void uses.take(DATABASE, here)
  assert.equal(seen.wakes, 2)
})

test('a use ends once, a moment after its last session', async () => {
  const { uses, seen, start } = open()
  start()
  const use = await uses.take(DATABASE, here)
  use?.release()
  await until('the bill ends', () => seen.billsEnded > 0)
  // A second end would follow in this turn.
  await pause(10)
  assert.deepEqual([seen.released, seen.billsEnded], [1, 1])
})

test('a use whose server ends between two sessions ends its bill', async () => {
  const { uses, seen, start, end } = open()
  start()
  const use = await uses.take(DATABASE, here)
  use?.release()
  end(SPENT)
  await until('the bill ends', () => seen.billsEnded > 0)
  await uses.take(DATABASE, here)
  assert.equal(seen.wakes, 2)
})

test('the end of a proxy is told to sessions that wait for a server', async () => {
  const { uses } = open()
  const waiting = uses.take(DATABASE, here)
  const told = assert.rejects(
    waiting,
    (error) => error instanceof NotAwake && error.fatal === SPENT,
  )
  await uses.close(SPENT)
  await told
})
