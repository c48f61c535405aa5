import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Queryable, SqlRow, State } from '#state/connect.ts'
import { StartFailure } from './failing-start.ts'
import { createNewestFiles, demandUnmarked } from './newest-files.ts'

const answer = <R extends SqlRow>(...rows: SqlRow[]) => ({
  rows: rows as R[],
  rowCount: rows.length,
})

/** A cluster whose files end before the stored log, with a backup or without. */
function olderCluster(t: TestContext, hasBackup: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-older-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const state: Queryable = {
    query: async (text) =>
      text.includes('log_end') ? answer({ end: '0/5000' }) : answer(...(hasBackup ? [{}] : [])),
  }
  const server: Pick<State, 'query' | typeof Symbol.asyncDispose> = {
    query: async () => answer({ end: '0/4000', timeline: 1 }),
    [Symbol.asyncDispose]: async () => undefined,
  }
  return { state, cluster: { id: 'db_1', folder }, connect: () => server as State }
}

/** The words of a failed start for its owner. */
const wordsOf = (start: Promise<void>): Promise<string> =>
  start.then(
    () => assert.fail('it starts'),
    (error: unknown) => {
      assert.ok(error instanceof StartFailure)
      assert.match(error.log, /they end at 0\/4000, and the stored log at 0\/5000/)
      return error.words
    },
  )

test('older files are said to be restorable by the operator only where there is a copy', async (t) => {
  for (const [hasBackup, words] of [
    [true, /older than its backups; the operator of the service can restore them$/],
    [false, /older than its stored log, and it has no backup: it can only be deleted$/],
  ] as const) {
    const { state, cluster, connect } = olderCluster(t, hasBackup)
    await demandUnmarked(state, cluster)
    assert.match(await wordsOf(createNewestFiles(state)({ ...cluster, connect })), words)
    assert.ok(existsSync(join(cluster.folder, 'older')))
    assert.match(await wordsOf(demandUnmarked(state, cluster)), words, 'at each further start')
  }
})
