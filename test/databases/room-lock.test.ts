// The lock under which a restore and a pull of an image reserve room of the disk, in the specs of their cells.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockFile } from '#base/lock.ts'
import type { CellSpec } from '#cells/cell.ts'
import { createJobCells } from '#databases/backups/job-cells.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { makeRoomLock, roomLockFolder } from '#node/room-lock.ts'
import { pullImage, type NodePulls } from '#workloads/pull-image.ts'

/** The spec that a work gives to its cell, which never starts. */
async function specOf(
  begin: (start: (spec: CellSpec) => Promise<never>) => Promise<unknown>,
): Promise<CellSpec> {
  let given: CellSpec | undefined
  const ended = begin(async (spec) => {
    given = spec
    throw new Error('the end of the test')
  })
  await assert.rejects(ended, /the end of the test/)
  return given ?? assert.fail('no cell is started')
}

test('a restore and a pull of an image reserve room of the disk under one lock, which both may read', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-room-lock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(roomLockFolder(folder))
  makeRoomLock(folder)
  const place = { runFolder: folder, dataFolder: folder, logLevel: 'error', logTail: {} }
  const account = 'acct_a'
  const restore = await specOf((start) => {
    const core = {
      cells: { start },
      accountCells: { admit: async () => undefined },
      data: { secrets: { state: 'secret' }, at: (...names: string[]) => join(folder, ...names) },
      place,
      address: { url: 'postgres://nowhere' },
    } as unknown as AgentCore
    const own = { agent: { socketPath: '', secret: '' }, blobs: async () => ({ folder }) as never }
    const job = { kind: 'restore', id: 'db_2', database: 'db_1', account, payer: 'db_2' } as const
    return createJobCells(core, own).run({ ...job, name: 'notes' }, t.signal)
  })
  const pull = await specOf((start) => {
    const deps = {
      cells: { start },
      place,
      admit: async () => undefined,
      folder,
      settings: { privateRegistries: [], imageFolder: null },
      passwordFor: async () => undefined,
      servedPorts: [],
    } as unknown as NodePulls
    const wanted = { id: 'wl_a', account, version: 1, image: 'one', roomBytes: 1 }
    return pullImage(deps, wanted, () => undefined, t.signal)
  })
  const lockOf = ({ config }: CellSpec) => (config as { roomLock: string }).roomLock
  await using _ = await lockFile(lockOf(restore), undefined, { read: true })
  await assert.rejects(lockFile(lockOf(pull), undefined, { read: true }), { code: 'locked' })
  for (const { reads } of [restore, pull]) assert.ok(reads.includes(roomLockFolder(folder)))
})
