// The order of the parts of a start, with a cell that runs nothing.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '#base/log.ts'
import { quiet } from '#postgres/testing.ts'
import { createServers, type ServersDeps } from './servers.ts'

test('nobody follows the log of a server before its life is recorded', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-servers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'db_1', 'data'), { recursive: true })
  writeFileSync(join(folder, 'db_1', 'data', 'PG_VERSION'), '16')
  const steps: string[] = []
  const cell = {
    socket: join(folder, 'run', '.s.PGSQL.5432'),
    ready: async () => void steps.push('it answers'),
    stop: async () => void steps.push('it ends'),
  }
  const deps = {
    cells: { start: async () => cell },
    state: {
      async query() {
        steps.push('its life is recorded')
        return { rows: [], rowCount: 1 }
      },
    },
    log: quiet,
    install: async () => ({ libFolder: folder, binFolder: folder }),
    folder,
    runFolder: folder,
    superuserPassword: new Secret('secret'),
    idleMs: 1000,
    proxies: 1,
    admit: async () => undefined,
    beside: async () => undefined,
    changed: (_: unknown, isRunning: boolean) =>
      void steps.push(isRunning ? 'others hear of it' : 'others hear of its end'),
    failing: async () => undefined,
  }
  const servers = createServers(deps as unknown as ServersDeps)
  t.after(() => servers.close())
  const database = { id: 'db_1', account: 'acct_a', name: 'notes' }
  await servers.alone(database, async () => void steps.push('work'))
  assert.deepEqual(steps, [
    'it answers',
    'its life is recorded',
    'others hear of it',
    'work',
    'others hear of its end',
    'it ends',
  ])
})
