import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workloadCellOf } from './cell-name.ts'
import { sourceOfCell, writerOf } from './log-source.ts'

test('a line about the connections of a cell names its version and its instance', () => {
  const cell = workloadCellOf({ id: 'wl_0abc', version: 13, instance: 2 })
  assert.deepEqual(writerOf(sourceOfCell(cell)), { version: 13, instance: 2 })
})
