import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { createDrop } from './drop.ts'

const FATAL = { code: '53100', message: 'full', hint: 'none' }

test('messages that wait anew, an hour after others, end old transactions alone at first', async () => {
  let nowMs = 0
  const leasts: unknown[] = []
  const server: Queryable = {
    query: <R extends SqlRow>(text: string, values: readonly unknown[] = []) => {
      if (text.includes('xact_start') && !text.includes('pg_terminate_backend'))
        leasts.push(values[0])
      const rows = text.includes('is_long') ? [{ is_long: true }] : []
      return Promise.resolve({ rows: rows as unknown as R[], rowCount: rows.length })
    },
  }
  const drop = createDrop(
    () => undefined,
    () => nowMs,
  )
  for (const atMs of [0, 1000, 9000, 3_600_000, 3_601_000]) {
    nowMs = atMs
    await drop(server, FATAL)
  }
  assert.deepEqual(leasts, [2000, 2000, 0, 2000, 2000])
})
