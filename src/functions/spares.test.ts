import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import type { Cell, CellSpec } from '#cells/cell.ts'
import { quiet } from '#postgres/testing.ts'
import { createSpares } from './spares.ts'

const LOOKS = 400

/** Cells of which the first starts fail. */
function machine(failures: number) {
  const cells: Cell[] = []
  let starts = 0
  const spares = createSpares({
    cells: {
      list: () => cells,
      assign: () => assert.fail('nothing is assigned here'),
      async start(spec) {
        if (++starts <= failures) throw new TypeError('the machine is busy')
        const cell = { spec, state: 'ready', ready: async () => undefined } as unknown as Cell
        cells.push(cell)
        return cell
      },
    },
    log: quiet,
    count: 2,
    specOf: async (name, user) => ({ name, user, isSpare: true }) as unknown as CellSpec,
    retryMs: 5,
  })
  return { spares, cells, starts: () => starts }
}

test('spares whose start fails are started again, without a function that asks', async (t) => {
  const { spares, cells, starts } = machine(3)
  t.after(spares.close)
  spares.fill()
  for (let look = 0; look < LOOKS && cells.length < 2; look++) await sleep(20)
  assert.deepEqual([cells.length, starts()], [2, 5])
})

test('no spare starts after the end', async () => {
  const { spares, starts } = machine(Infinity)
  spares.fill()
  for (let look = 0; look < LOOKS && starts() < 2; look++) await sleep(20)
  spares.close()
  const begun = starts()
  await sleep(50)
  assert.equal(starts(), begun)
})
