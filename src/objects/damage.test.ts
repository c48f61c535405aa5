import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { createDamages } from './damage.ts'

test('a service that meets a page which cannot be read tells the operator, and of no other error', async () => {
  const raised: string[] = []
  const query: Queryable['query'] = async (_text, values) => {
    raised.push(JSON.stringify(values))
    return { rows: [], rowCount: 0 }
  }
  const log = createLogger('test', { write: () => undefined })
  const damages = createDamages({ state: { query }, log })
  const failing = damages.telling({ ask: (error: Error): Promise<void> => Promise.reject(error) })
  const unreadable = [
    new ServerError('invalid page in block 7 of relation base/5/1', 'XX001', false),
    new ServerError(
      'could not read block 3 in file "base/5/1": Input/output error',
      '58030',
      false,
    ),
  ]
  for (const error of unreadable)
    await assert.rejects(failing.ask(error), { code: 'page_damaged', cause: error })
  assert.equal(raised.filter((values) => values.includes('page_damaged')).length, 2)
  const other = new ServerError('could not fsync file "pg_wal/1"', '58030', false)
  await assert.rejects(failing.ask(other), other)
  assert.equal(damages.met(), 2)
})

test('the log of a damaged body has no name of a customer, and its alarm has', async () => {
  const raised: string[] = []
  const query: Queryable['query'] = async (_text, values) => {
    raised.push(JSON.stringify(values))
    return { rows: [{ raised: true }] as never[], rowCount: 1 }
  }
  const lines: string[] = []
  const log = createLogger('test', { write: (line) => void lines.push(line) })
  const damages = createDamages({ state: { query }, log })
  await damages.tellBody({ bucket: 7, version: 'v', found: 'f', annotation: 'ann-x', key: 'key-x' })
  assert.match(raised.join(), /ann-x.*key-x/)
  assert.match(lines.join(), /A stored body is damaged/)
  assert.doesNotMatch(lines.join(), /ann-x|key-x/)
})
