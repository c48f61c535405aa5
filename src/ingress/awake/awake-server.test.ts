// The agent's socket with an ingress that asks there, and a start that the test holds.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger, type Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { ServedKind } from '#node/ingress.ts'
import { askAgent } from '#node/agent-socket/ask-agent.ts'
import { quiet } from '#postgres/testing.ts'
import { NotWanted } from '#resources/instances.ts'
import type { State } from '#state/connect.ts'
import { createWakeServer } from './awake-server.ts'

const ID = 'fn_a'
const ROW = {
  id: ID,
  kind: 'function',
  account: 'a',
  name: 'hello',
  wanted: 'deployed',
  held: null,
  liveVersion: 1,
}

async function serve(
  t: TestContext,
  use: ServedKind['use'],
  row: () => object | undefined = () => ROW,
  log: Logger = quiet,
) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-awake-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const server = createWakeServer({
    state: { query: async () => ({ rows: [row()].filter(Boolean) }) } as unknown as State,
    log,
    kinds: new Map([['function', { kind: 'function', use }]]),
    certificates: { follow: () => undefined },
  })
  t.after(() => server.close())
  const agent = { socketPath: join(folder, 'awake.sock'), secret: 'secret' }
  await server.listen(agent)
  const lines: object[] = []
  const told = Promise.withResolvers<object>()
  const take = (line: unknown) => {
    lines.push(line as object)
    told.resolve(line as object)
  }
  const ask = () => {
    const answer = askAgent(agent, { path: `/${ID}`, firstLineMs: 10_000, take })
    t.after(() => answer.end())
    return answer.ended
  }
  return { server, lines, first: told.promise, ended: ask(), ask }
}

test('a request that waits for the start of a version is answered by the one that has replaced it', async (t) => {
  const asked = Promise.withResolvers<void>()
  const starting = Promise.withResolvers<void>()
  const released: string[] = []
  let live = 'old'
  const row = () => ({ ...ROW, liveVersion: live === 'old' ? 1 : 2 })
  const use: ServedKind['use'] = async ({ liveVersion }) => {
    const version = liveVersion === 1 ? 'old' : 'new'
    asked.resolve()
    if (version === 'old') await starting.promise
    return {
      instance: { address: `unix:${version}`, cell: `fn-a-${version}` },
      release: () => void released.push(version),
    }
  }
  const { server, first } = await serve(t, use, row)
  await asked.promise
  live = 'new'
  server.replace(ID)
  starting.resolve()
  assert.deepEqual(await first, { address: 'unix:new', cell: 'fn-a-new' })
  assert.deepEqual(released, ['old'])
})

const LOADING = { address: 'unix:a', cell: 'fn-a-1' }

test('an instance that takes connections is told before it is loaded; a later version replaces it', async (t) => {
  const loading = Promise.withResolvers<void>()
  const use: ServedKind['use'] = async (_, __, ___, begun) => {
    begun(LOADING)
    await loading.promise
    return { instance: LOADING, release: () => undefined }
  }
  const { server, lines, first } = await serve(t, use)
  assert.deepEqual(await first, { ...LOADING, isLoading: true })
  server.replace(ID)
  loading.resolve()
  while (lines.length < 3) await pause(10)
  assert.deepEqual(lines.slice(1), [{ loaded: true }, { replaced: true }])
})

test('an instance that was told and cannot be loaded is refused', async (t) => {
  const use: ServedKind['use'] = async (_, __, ___, begun) => {
    begun(LOADING)
    throw fault('function_failed', 'Could not start the function: it throws')
  }
  const { lines, ended } = await serve(t, use)
  await ended
  const [told, refused] = lines as [object, { readonly refused: string }]
  assert.deepEqual([told, refused.refused], [{ ...LOADING, isLoading: true }, 'function_failed'])
})

test('a function without a live version says so, and the service has not failed', async (t) => {
  const use: ServedKind['use'] = async () => {
    throw new NotWanted('No version is live')
  }
  const { first } = await serve(t, use, () => ({ ...ROW, liveVersion: null }))
  assert.deepEqual(await first, {
    refused: 'function_starting',
    message: 'Could not run the function "hello": no version of it is live yet',
    retryAfterS: 2,
  })
})

test('a function that has just been deleted ends with a line, as an end without one is a failure of the service', async (t) => {
  const use: ServedKind['use'] = () => assert.fail('it is not there')
  const { lines, ended } = await serve(t, use, () => undefined)
  await ended
  assert.deepEqual(lines, [{ replaced: true }])
})

test('a refusal stands until its resource or its account may pay again, or the resource is replaced', async (t) => {
  const use: ServedKind['use'] = () => Promise.reject(fault('budget_exhausted', 'It is used up'))
  const { server, ended, ask, lines } = await serve(t, use)
  const opens = [ended]
  const isOpen = async () => {
    const open = opens.at(-1)
    return (await Promise.race([open, pause(100, 'open')])) === 'open'
  }
  const acts = [
    () => server.again(ID),
    () => server.again(ROW.account),
    () => server.replace(ID),
    () => server.end(ID, { replaced: true }),
  ]
  for (const [nth, act] of acts.entries()) {
    while (lines.length <= nth) await pause(10)
    assert.deepEqual(lines[nth], {
      refused: 'function_budget_exhausted',
      message: 'Could not run the function "hello": today\'s energy budget is used up',
      stands: true,
    })
    server.again('fn_other')
    assert.equal(await isOpen(), true)
    act()
    assert.equal(await isOpen(), false)
    opens.push(ask())
  }
})

test('a refusal does not stand where the resource may be paid since it was asked', async (t) => {
  const starting = Promise.withResolvers<never>()
  const asked = Promise.withResolvers<void>()
  const { server, ended, first } = await serve(t, () => {
    asked.resolve()
    return starting.promise
  })
  await asked.promise
  server.again(ID)
  starting.reject(fault('balance_depleted', 'It is used up'))
  assert.equal(((await first) as { refused?: string }).refused, 'balance_depleted')
  await ended
})

test('a suspended resource is read from the state once', async (t) => {
  let reads = 0
  const row = () => (reads++, { ...ROW, wanted: 'suspended' })
  const { first, ended } = await serve(t, () => assert.fail('it is suspended'), row)
  assert.equal(((await first) as { refused?: string }).refused, 'function_suspended')
  assert.equal(await Promise.race([ended, pause(100, 'open')]), 'open')
  assert.equal(reads, 1)
})

test('requests whose start fails for the same reason are one line of the log', async (t) => {
  const logged: string[] = []
  const log = createLogger('test', { write: (line) => void logged.push(line) })
  const use: ServedKind['use'] = () => Promise.reject(new TypeError('x'.repeat(5000)))
  const { ended, ask } = await serve(t, use, () => ROW, log)
  await ended
  for (let times = 0; times < 5; times++) await ask()
  assert.equal(logged.length, 1)
  assert.match(logged[0] ?? '', /A resource did not start/)
})
