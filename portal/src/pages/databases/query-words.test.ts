import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS } from '#contract/errors.ts'
import { Problem } from '#console/client/problem.ts'
import { costWords, mostWords, namedProblem } from './query-words.ts'

const plain = (words: string) => words.replaceAll('\u00a0', ' ')

test('costWords() of a query tells its own joules from those of the server at rest', () => {
  const answer = { row_count: 1, cut: false, duration_ms: 2.1, server_j: 0.0152 }
  const cost = {
    figure: { nj: 1_200_000n, known: 'modelled', bandPct: 40 },
    pg: 0n,
    receiptId: 'rcpt_1',
  } as const
  assert.equal(
    plain(costWords(answer, cost)),
    'in 2.1 ms for 1.20 mJ, and at most 15.2 mJ of its server while it ran. The server at rest costs besides, as shown below.',
  )
  assert.match(costWords({ ...answer, cut: true }, undefined), /below\. There are more rows\.$/)
})

test('mostWords() of a query are of the time in which it runs', () => {
  const most = mostWords({
    object: 'ceiling',
    ceiling_j: 1,
    ceiling_nj: '1000000000',
    ceiling_pusd: '69444',
    server_j: 105,
    time_limit_ms: 15_000,
  })
  assert.equal(
    plain(most),
    'At most 1.00 J for the request, and at most 105 J of its server while the statement runs.',
  )
})

test('namedProblem() has the name of the database in the advice for a statement that writes', () => {
  const told = (code: 'database_query_read_only' | 'database_query_failed') => {
    const detail = `It writes. ${ERRORS.database_query_read_only.help}`
    return namedProblem(new Problem({ status: 400, code, detail, requestId: 'req_1' }), 'notes')
  }
  const named = told('database_query_read_only')
  assert.ok(named instanceof Problem)
  assert.match(named.message, /^It writes\. .*`psql "\$\(ergon db url notes\)"`/)
  assert.deepEqual([named.status, named.requestId], [400, 'req_1'])
  const other = told('database_query_failed')
  assert.ok(other instanceof Problem)
  assert.match(other.message, /NAME/)
})
