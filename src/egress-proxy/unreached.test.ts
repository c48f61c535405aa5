import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTeller, readTold } from './unreached.ts'

test('the agent is told few lines of a cell at a time, and those of others', () => {
  const lines: string[] = []
  const tell = createTeller((line) => lines.push(line))
  for (let nth = 0; nth < 20; nth++) tell({ cell: 'fn-a-1', text: `not ${nth}` })
  tell({ cell: 'fn-b-1', text: 'neither' })
  assert.deepEqual(
    lines.map((line) => readTold(line.trimEnd())?.text),
    ['not 0', 'not 1', 'not 2', 'not 3', 'not 4', 'neither'],
  )
  assert.equal(readTold('{"level":"info"}'), undefined)
})
