// The end of a job's cell, where the process does not answer.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { serveUnix } from '#base/unix-server.ts'
import type { Cell } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { createJobCells } from './job-cells.ts'

test('a job that its account cannot pay ends with that reason, also while its process is silent', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-job-cells-'))
  const socket = join(folder, 'a.sock')
  const asked = Promise.withResolvers<void>()
  const server = await serveUnix({ socket }, () => asked.resolve())
  t.after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })
  const cell = {
    spec: { name: 'db-1-backup' },
    socket,
    state: 'running',
    ready: async () => undefined,
    stop: async () => undefined,
  } as unknown as Cell
  const core = {
    cells: { start: async () => cell },
    accountCells: { admit: async () => undefined },
    data: { secrets: { state: 'secret' }, at: (...names: string[]) => join(folder, ...names) },
    place: { runFolder: folder, dataFolder: folder, logLevel: 'error', logTail: {} },
    address: { url: 'postgres://nowhere' },
  } as unknown as AgentCore
  const cells = createJobCells(core, {
    agent: { socketPath: socket, secret: 'secret' },
    blobs: async () => ({ folder }) as never,
  })
  const run = cells.run(
    {
      kind: 'backup',
      id: 'bkp_1',
      database: 'db_1',
      account: 'acct_a',
      payer: 'db_1',
      name: 'notes',
    },
    t.signal,
  )
  await Promise.race([asked.promise, run])
  const why = fault('budget_exhausted', 'The budget is used up')
  void cells.endUnpaid(cell, why)
  await assert.rejects(run, (error) => error === why)
})
