// The agent's socket with an ingress that asks there, and a start that the test holds.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServedKind } from '#node/ingress.ts'
import { askAgent } from '#node/agent-socket/ask-agent.ts'
import { quiet } from '#postgres/testing.ts'
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

test('a request that waits for the start of a version is answered by the one that has replaced it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-awake-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const starting = Promise.withResolvers<void>()
  const released: string[] = []
  let live = 'old'
  const row = () => ({ ...ROW, liveVersion: live === 'old' ? 1 : 2 })
  const use: ServedKind['use'] = async ({ liveVersion }) => {
    const version = liveVersion === 1 ? 'old' : 'new'
    if (version === 'old') await starting.promise
    return {
      instance: { address: `unix:${version}`, cell: `fn-a-${version}` },
      release: () => void released.push(version),
    }
  }
  const server = createWakeServer({
    state: { query: async () => ({ rows: [row()], rowCount: 1 }) } as unknown as State,
    log: quiet,
    kinds: new Map([['function', { kind: 'function', use }]]),
    certificates: { follow: () => undefined },
  })
  t.after(() => server.close())
  const agent = { socketPath: join(folder, 'awake.sock'), secret: 'secret' }
  await server.listen(agent)
  const told = Promise.withResolvers<unknown>()
  const answer = askAgent(agent, { path: `/${ID}`, firstLineMs: 10_000, take: told.resolve })
  t.after(() => answer.end())
  await pause(100)
  live = 'new'
  server.replace(ID)
  starting.resolve()
  assert.deepEqual(await told.promise, { address: 'unix:new', cell: 'fn-a-new' })
  assert.deepEqual(released, ['old'])
})
