// The service of an operation, by which use is grouped and drawn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOperationOf } from './ledger/cell-operation.ts'
import { serviceOf } from './operations.ts'

test('all that a database uses is of one service, its server too', () => {
  for (const operation of ['database.create', 'database.session', 'cell.standing'])
    assert.equal(serviceOf(operation), 'databases', operation)
  assert.equal(serviceOf(cellOperationOf('db-1')), 'databases')
  assert.equal(serviceOf('service.health'), 'service')
  assert.equal(serviceOf('gone.create'), 'other')
})

test('all that a function uses is of one service, its cell too', () => {
  for (const operation of ['function.deploy', 'function.standing', cellOperationOf('fn-1')])
    assert.equal(serviceOf(operation), 'functions', operation)
})
