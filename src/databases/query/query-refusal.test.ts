import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { energyWords } from '#databases/agent-socket/energy-words.ts'
import { STARTING } from '#databases/agent-socket/state-words.ts'
import { advised, fault } from '#contract/errors.ts'
import { queryRefusal } from './query-refusal.ts'

const said = (severity: string, { code, message }: { code: string; message: string }) =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { severity, code })
const wordsOf = (code: 'budget_exhausted' | 'balance_depleted' | 'state_unavailable') =>
  energyWords(fault(code, 'x'), 'notes') ?? assert.fail(code)

test('a session that ends for want of energy or a server is no fault of the statement', () => {
  for (const [words, code] of [
    [wordsOf('balance_depleted'), 'balance_depleted'],
    [wordsOf('budget_exhausted'), 'budget_exhausted'],
    [wordsOf('state_unavailable'), 'database_not_ready'],
    [STARTING, 'database_not_ready'],
    [{ code: '28P01', message: 'password authentication failed' }, 'database_not_ready'],
    [{ code: '53300', message: 'too many' }, 'overloaded'],
    [{ code: '57014', message: 'canceled' }, 'database_query_failed'],
  ] as const) {
    assert.equal(queryRefusal(said('FATAL', words)).code, code)
    assert.equal(queryRefusal(said('FATAL', words)).details['sqlstate'], words.code)
    assert.equal(queryRefusal(said('ERROR', words)).code, 'database_query_failed', 'raised by SQL')
  }
})

test('queryRefusal() of a write says that the query only reads, and how to write', () => {
  const message = 'cannot execute INSERT in a read-only transaction'
  const refusal = queryRefusal(said('ERROR', { code: '25006', message }))
  assert.equal(refusal.code, 'database_query_read_only')
  assert.match(
    advised(refusal),
    /INSERT in a read-only transaction \(SQLSTATE 25006\)\. .*only reads.*psql/,
  )
})

test('queryRefusal() says where a statement is wrong, with the hint of the server', () => {
  const error = said('ERROR', { code: '42703', message: 'column "nam" does not exist' })
  Object.assign(error, { position: '8', hint: 'Perhaps you meant to reference "notes.name".' })
  assert.equal(
    queryRefusal(error).message,
    'Could not run the query: column "nam" does not exist (SQLSTATE 42703, at character 8): Perhaps you meant to reference "notes.name".',
  )
})
