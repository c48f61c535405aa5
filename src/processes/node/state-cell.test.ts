import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { connectState, type State } from '#state/connect.ts'
import type { DataFolder } from './data-folder.ts'
import type { Reporter } from './report.ts'
import { startState } from './state-cell.ts'

const OPTIONS = { skip: whyNoState(), timeout: 120_000 }
const MIGRATION_LOCK = 4_207_701
/** More than what a statement, and its answer, have elsewhere. */
const LONGER_MS = 60_000

/** A start on a state of its own, whose migrations wait until `go` is called. */
async function startWaiting(t: TestContext) {
  const server = await openTestUrl()
  const schema = `t_${randomUUID().replaceAll('-', '')}`
  const url = server.of(schema)
  const other = connectState({ address: { url }, connections: 2, log: quiet })
  t.after(async () => {
    await other.query(`drop schema ${schema} cascade`)
    await other[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  await other.query(`create schema ${schema}`)
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const released = other.transaction(async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const stopping = new AbortController()
  const steps: string[] = []
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const limited = `${url}${encodeURIComponent(' -c statement_timeout=1s')}`
  const starting = start(limited, steps, stopping.signal)
  starting.catch(() => undefined)
  await waitingForLock(other)
  const go = async () => {
    held.resolve()
    await released
  }
  /** Waits longer than the limit that its role has. */
  const outlast = () => other.query('select pg_sleep(1.5)')
  return { starting, steps, stopping, go, outlast }
}

const start = (url: string, steps: string[], signal: AbortSignal) =>
  startState({
    config: { databaseUrl: url } as Config,
    data: { stateId: undefined, rememberState: () => undefined } as unknown as DataFolder,
    cells: {} as Cells,
    log: quiet,
    report: { step: (text) => void steps.push(text) } as Reporter,
    signal,
  })

async function waitingForLock(state: State): Promise<void> {
  for (;;) {
    const { rowCount } = await state.query(
      "select from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
      [MIGRATION_LOCK],
    )
    if (rowCount > 0) return
  }
}

test('migrations take as long as they take, and are told', OPTIONS, async (t) => {
  const { starting, steps, go, outlast } = await startWaiting(t)
  t.mock.timers.tick(LONGER_MS)
  await outlast()
  await go()
  const running = await starting
  await running.close()
  assert.equal(steps[0], 'state is being migrated: 0001_ledger.sql')
  assert.match(steps.at(-1) ?? '', /^state migrated: 0001_ledger\.sql, /)
})

test('a stop ends a migration', OPTIONS, async (t) => {
  const { starting, stopping, go } = await startWaiting(t)
  const reason = new Error('stopped')
  stopping.abort(reason)
  await assert.rejects(starting, reason)
  await go()
})
