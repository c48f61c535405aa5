import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import type { Cell, CellSpec } from '#cells/cell.ts'
import { quiet } from '#postgres/testing.ts'
import { createSpares } from './spares.ts'

const LOOKS = 400

/** Cells of which the first starts fail. */
function machine(failures: number, ask: (spare: Cell) => Promise<unknown> = async () => undefined) {
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
    ask,
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

test('spares are asked for pages before a function comes, until a function takes them', async (t) => {
  const asked = new Map<string, number>()
  const { spares, cells } = machine(0, async (spare) => {
    const { name } = spare.spec
    asked.set(name, (asked.get(name) ?? 0) + 1)
    // The first one is taken at its third page, and the other one answers none.
    if (name === cells[0]?.spec.name && asked.get(name) === 3)
      Object.assign(spare, { state: 'stopped' })
    if (name === cells[1]?.spec.name) throw new TypeError('no page')
  })
  t.after(spares.close)
  spares.fill()
  for (let look = 0; look < LOOKS && (asked.get('spare-2') ?? 0) < 16; look++) await sleep(20)
  assert.deepEqual([...asked.values()].slice(0, 2), [3, 16])
})
