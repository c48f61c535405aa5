// Refusals before a process starts.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { CellSpec } from './cell.ts'
import { createCells } from './create-cells.ts'
import { echoSpec, place } from './testing/harness.ts'
import { openPlace } from './testing/script-cells.ts'

test('the path of a socket that does not fit is refused, with its length', async (t) => {
  const where = place()
  const runFolder = join(where.root, 'r'.repeat(100))
  const { cells } = await openPlace(t, { runFolder })
  await assert.rejects(
    cells.start(echoSpec({ ...where, runFolder })),
    /has \d{3} bytes, and 107 is the most/,
  )
  rmSync(where.root, { recursive: true })
})

test('specs that a shell or the kernel would misread are refused', async (t) => {
  const { cells, where } = await openPlace(t)
  const refused: Partial<CellSpec>[] = [
    { name: 'Not A Name' },
    { name: '../up' },
    { calls: ['a/b'] },
    { socket: 'a/b' },
    { argv: ['node'] },
    { argv: ['/a=b'] },
    { argv: ['/bin/true', 'a\0b'] },
    { environment: { 'A B': '' } },
    { environment: { IFS: 'x' } },
    { environment: { A: '\0' } },
  ]
  for (const more of refused)
    await assert.rejects(cells.start({ ...echoSpec(where), ...more }), TypeError)
  assert.deepEqual(cells.list(), [])
})

test('createCells() refuses a data folder that another agent holds', async (t) => {
  const { where } = await openPlace(t)
  await assert.rejects(createCells(where), { code: 'locked' })
})

test('startProcess() refuses to be called from a worker, whose end would kill the cell', async () => {
  const script = `
    const { startProcess } = await import(${JSON.stringify(new URL('launch.ts', import.meta.url).href)})
    startProcess({}, {})`
  const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
  const error = await new Promise((resolve) => new Worker(url).once('error', resolve))
  assert.match(String(error), /main thread/)
})
