// The recovery of a restored cluster: how long its server may take, in the spec that the cell is started with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '#cells/cell.ts'
import { postgresCell } from '#postgres/postgres-cell.ts'
import { quiet } from '#postgres/testing.ts'
import { JOB_MS_MAX } from './job.ts'
import { recoverIn, type OwnCell } from './recover-in.ts'

const { signal } = new AbortController()

/** The time that the server of a cell has until it answers. */
const readyMsOf = ({ readyMaxMs }: OwnCell): number =>
  postgresCell({
    install: { binFolder: '/bin', reads: [] },
    name: 'db-1',
    folder: '/db-1',
    socketFolder: '/run/db-1',
    socketGroup: 'databases',
    payer: { kind: 'operator' },
    readyMaxMs,
  }).ready.timeoutMs

test('recoverIn() gives a replay as much time as a restore has, also behind the last commit', async () => {
  const begun: OwnCell[] = []
  const cell = await recoverIn(
    async (own) => {
      begun.push(own)
      const text = 'FATAL:  recovery ended before configured recovery target was reached'
      own.output?.({ stream: 'stderr', text } as Parameters<NonNullable<OwnCell['output']>>[0])
      const stopped = { state: 'ready', exits: [], stop: async () => undefined }
      return { ...stopped, ready: async () => undefined } as unknown as Cell
    },
    { log: quiet, signal },
  )
  assert.equal(cell.state, 'ready')
  assert.deepEqual(begun.map(readyMsOf), [JOB_MS_MAX, JOB_MS_MAX])
})
