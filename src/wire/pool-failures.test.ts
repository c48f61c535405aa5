// An error fails its query alone, all queries of its connection, or all that wait for one.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { described, errorMessage, lyingServer } from './lying-server.fixture.ts'
import { READY } from './messages.ts'
import { askPool, honest, openTestPool, WITHIN_A_MINUTE, writeAll } from './pool.fixture.ts'

test('an error of a query is its own, a fatal one that of all', WITHIN_A_MINUTE, async (t) => {
  const { login } = await lyingServer(t, (asked, socket) => {
    if (asked.kind === 'describe') return writeAll(socket, described())
    if (asked.text === 'bad') return writeAll(socket, [errorMessage('ERROR', '22012'), READY])
    if (asked.text === 'fatal') return socket.end(errorMessage('FATAL', '57P01'))
    writeAll(socket, honest(asked))
  })
  await using pool = openTestPool(login)
  const ends = async (texts: readonly string[]) =>
    (await Promise.allSettled(texts.map((text) => askPool(pool, text)))).map((end) =>
      end.status === 'fulfilled' ? end.value : end.reason.code,
    )
  assert.deepEqual(await ends(['a', 'bad', 'b']), ['of a', '22012', 'of b'])
  assert.deepEqual(await ends(['a', 'fatal', 'b']), ['of a', '57P01', '57P01'])
  assert.deepEqual(await ends(['c']), ['of c'])
})

test(
  'a connection that cannot be opened fails nobody while another is open',
  WITHIN_A_MINUTE,
  async (t) => {
    const held: Socket[] = []
    const { login } = await lyingServer(t, (asked, socket) => {
      if (asked.kind === 'query' && asked.text === 'slow') held.push(socket)
      else writeAll(socket, honest(asked))
    })
    let logins = 0
    await using pool = openTestPool(
      () => (++logins === 2 ? Promise.reject(new Error('full')) : login()),
      {
        connections: 2,
        answerMsMax: 60_000,
        waitMsMax: 60_000,
      },
    )
    const slow = askPool(pool, 'slow')
    while (held.length === 0) await sleep(5)
    const behind = askPool(pool, 'a')
    while (logins < 2) await sleep(5)
    // The first connection ends; the query that went behind goes with it, the next one gets a third login.
    held[0]?.destroy()
    await assert.rejects(slow, { name: 'Failure' })
    await assert.rejects(behind, { name: 'Failure' })
    assert.equal(await askPool(pool, 'b'), 'of b')
    assert.equal(logins, 3)
  },
)

test('where no connection can be opened all that wait fail at once', WITHIN_A_MINUTE, async () => {
  let logins = 0
  const refuse = async () => {
    logins++
    await sleep(20)
    throw new Error('refused')
  }
  await using pool = openTestPool(refuse, { connections: 2 })
  const ends = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => askPool(pool, `${n}`)))
  assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.message === 'refused'))
  assert.equal(logins, 2)
})
