// The service of an operation, by which use is grouped and drawn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serviceOf } from './operations.ts'

test('all that a database uses is of one service, its server too', () => {
  for (const operation of ['database.create', 'database.session', 'cell.standing'])
    assert.equal(serviceOf(operation), 'databases', operation)
  assert.equal(serviceOf('service.health'), 'service')
  assert.equal(serviceOf('gone.create'), 'other')
})
