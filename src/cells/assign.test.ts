// Spares: their process becomes that of another cell, with its config, its output and its CPU from then on.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sleep } from '#base/clock.ts'
import type { Cell, Cells, CellSpec } from './cell.ts'
import { findCgroups, usageNs } from './cgroup.ts'
import { createCells } from './create-cells.ts'
import { echoSpec, eventually, place, survivors } from './testing/harness.ts'

const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }
const BURN = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
/** Uses CPU, answers, waits for its config, and tells it; with 5 it ends. */
const PROGRAM = `${BURN}; : > "$1"; read -r config <&3; echo "config $config"; ${BURN}
  [ "$config" != 5 ] || exit 5
  sleep 60 & wait`

async function open(t: TestContext) {
  const where = place({ level: 'root' })
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    assert.deepEqual(survivors(where.root), [])
    rmSync(where.root, { recursive: true })
  })
  const specOf = (name: string, more: Partial<CellSpec> = {}): CellSpec => {
    const socket = join(where.runFolder, 'echoes', 'spare', 's')
    return echoSpec(where, {
      name,
      argv: ['/bin/sh', '-c', PROGRAM, where.root, socket],
      environment: { PATH: '/usr/bin:/bin' },
      writes: [],
      ready: { probe: async (path) => assert.ok(existsSync(path)), timeoutMs: 20_000 },
      ...more,
    })
  }
  const spare = await cells.start(specOf('spare', { isSpare: true }))
  await spare.ready()
  return { cells, spare, specOf }
}

const named = (cells: Cells) => cells.list().map(({ spec }) => spec.name)

test(
  'a spare becomes another cell, which has its config and pays from then on',
  ROOT,
  async (t) => {
    const { cells, spare, specOf } = await open(t)
    const { pid } = spare
    const lines: string[] = []
    const cell = cells.assign(
      spare,
      specOf('own', { config: { a: 1 }, output: ({ text }) => void lines.push(text) }),
    )
    assert.ok(cell !== undefined)
    const before = spare.cpuNs()
    assert.ok(before > 0n)
    assert.deepEqual([cell.state, cell.pid, cell.socket], ['ready', pid, spare.socket])
    assert.deepEqual([spare.state, spare.pid], ['stopped', undefined])
    assert.deepEqual(named(cells), ['own'])
    assert.ok(await eventually(() => lines.length > 0))
    assert.deepEqual(lines, ['config {"a":1}'])
    await cell.freeze(true)
    await untilStill(cell)
    // Nothing is lost and nothing is counted twice.
    assert.equal(spare.cpuNs(), before)
    assert.equal(spare.cpuNs() + cell.cpuNs(), groupNs(cell))
    await cell.freeze(false)
    await spare.stop()
    assert.equal(cell.state, 'ready')
    await cell.stop(0)
    assert.deepEqual(named(cells), [])
  },
)

test('a cell that was a spare starts again with its config', ROOT, async (t) => {
  const { cells, spare, specOf } = await open(t)
  const lines: string[] = []
  const cell = cells.assign(
    spare,
    specOf('own', { config: 5, output: ({ text }) => void lines.push(text) }),
  )
  assert.ok(await eventually(() => (cell?.exits.length ?? 0) > 1))
  assert.deepEqual([cell?.exits[0]?.code, lines.slice(0, 2)], [5, ['config 5', 'config 5']])
  assert.deepEqual([spare.exits, spare.state], [[], 'stopped'])
})

test('only a spare that answers is assigned, and to a name that is free', ROOT, async (t) => {
  const { cells, spare, specOf } = await open(t)
  assert.throws(() => cells.assign(spare, specOf('spare')), /one of its name runs: spare$/)
  const own = cells.assign(spare, specOf('own'))
  assert.ok(own !== undefined)
  assert.equal(cells.assign(spare, specOf('again')), undefined)
  assert.equal(cells.assign(own, specOf('again')), undefined)
  assert.deepEqual(named(cells), ['own'])
  await own.stop(0)
  const delaysMs = [60_000]
  const restart = { delaysMs, steadyMs: 60_000 }
  const next = await cells.start(specOf('spare', { isSpare: true, restart }))
  await next.ready()
  next.kill()
  assert.ok(await eventually(() => next.exits.length > 0))
  assert.equal(cells.assign(next, specOf('own')), undefined)
})

/** CPU of the group that the processes of a cell are in. */
function groupNs({ pid }: Cell): bigint {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  const path = /^0::(.*)$/m.exec(groups)?.[1] ?? ''
  const { unified = '' } = findCgroups()
  const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? ''
  return usageNs(readFileSync(join(unified, path.slice(own.length), 'cpu.stat'), 'utf8'))
}

/** A frozen process stops when it next runs. */
async function untilStill(cell: Cell): Promise<void> {
  for (let before = -1n; before !== cell.cpuNs(); await sleep(50)) before = cell.cpuNs()
}
