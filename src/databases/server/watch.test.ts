import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { createWarnings } from '#databases/agent-socket/warnings.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { createWatch } from './watch.ts'

const ID = 'db_1'
const PER_DAY = 1000n

/** A watch of one database, whose row and energy the test changes. */
function watching() {
  const world = { size_bytes: '64', nj_per_day: null as string | null, used_nj: '0', measured: 0n }
  const settled: string[] = []
  const warnings = createWarnings(() => undefined)
  const state = {
    query: async () => ({ rows: [{ ...world, id: ID, name: 'notes' }], rowCount: 1 }),
  } as unknown as Queryable
  const accountCells = {
    measuredNj: (cell: string) => nj(cell === 'db-1' ? world.measured : 0n),
    settle: (cell: string) => void settled.push(cell),
  }
  const watch = createWatch({ state, log: quiet, warnings, accountCells })
  return { world, settled, watch, warning: () => warnings.of(ID)?.code }
}

test('a size is that of the state, and unlimited before the first look', async () => {
  const { watch, world } = watching()
  assert.equal(watch.sizeOf(ID), Infinity)
  await watch.ask(ID)
  assert.equal(watch.sizeOf(ID), 64)
  world.size_bytes = '128'
  await watch.ask(ID)
  assert.equal(watch.sizeOf(ID), 128)
})

test('sessions are warned from four fifths of a budget on, and not without one', async () => {
  const { watch, world, warning, settled } = watching()
  const at = async (used: bigint, measured = 0n) => {
    Object.assign(world, { used_nj: String(used), measured })
    await watch.ask(ID)
    return warning()
  }
  assert.equal(await at(PER_DAY), undefined)
  world.nj_per_day = String(PER_DAY)
  assert.equal(await at(799n), undefined)
  assert.equal(await at(800n), '01000')
  assert.equal(await at(799n), undefined, 'the budget was raised, or a day began')
  assert.equal(await at(700n, 99n), undefined)
  assert.deepEqual(settled, [])
  assert.equal(await at(700n, 100n), '01000')
  assert.deepEqual(settled, ['db-1'], 'the charge tells it')
  assert.equal(await at(800n, 100n), '01000')
  assert.deepEqual(settled, ['db-1'], 'it is told')
  world.nj_per_day = null
  assert.equal(await at(PER_DAY), undefined)
})
