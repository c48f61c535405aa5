// The recovery of a restored cluster: how long its server may take, in the spec that the cell is started with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '#cells/cell.ts'
import { postgresCell } from '#postgres/postgres-cell.ts'
import { quiet } from '#postgres/testing.ts'
import { recoverIn, STEP_MS_MAX, type OwnCell } from './recover-in.ts'

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

test('recoverIn() gives each step of a replay the same time, also behind the last commit', async () => {
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
  assert.deepEqual(begun.map(readyMsOf), [STEP_MS_MAX, STEP_MS_MAX])
})

test('recoverIn() gives up a server that stands still in three lives, also behind the last commit', async () => {
  for (const isBehind of [false, true]) {
    let begun = 0
    let stops = 0
    const recovering = recoverIn(
      async (own) => {
        const exits: object[] = []
        const isStill = ++begun === 2 || !isBehind
        const text = 'FATAL:  recovery ended before configured recovery target was reached'
        if (!isStill)
          own.output?.({ stream: 'stderr', text } as Parameters<NonNullable<OwnCell['output']>>[0])
        else for (let nth = 0; nth < 3; nth++) exits.push({ code: null, silent: true })
        return { state: 'starting', exits, stop: async () => void stops++ } as unknown as Cell
      },
      { log: quiet, signal },
    )
    await assert.rejects(recovering, { message: 'its server cannot recover' })
    assert.equal(stops, begun)
  }
})

test('recoverIn() ends where its cell has stopped for good', { timeout: 5000 }, async () => {
  const stopped = { state: 'stopped', exits: [], stop: async () => undefined } as unknown as Cell
  await assert.rejects(
    recoverIn(async () => stopped, { log: quiet, signal }),
    {
      message: 'its server cannot recover',
    },
  )
})
