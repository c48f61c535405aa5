// Puts two cells through everything that a launcher promises and reports what happened. It runs in the
// test's process for what root can do, and as a program of an unprivileged user for the rest:
//   node exercise.ts '{"level":"userns"}'   prints the report as one JSON line
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { sleep } from '#base/clock.ts'
import type { Cell, CellState, Exit, Isolation } from '#cells/cell.ts'
import { type CellsOptions, createCells } from '#cells/create-cells.ts'

import type { EchoReply } from './echo-cell.ts'
import { ask, echoSpec, eventually, place, survivors } from './harness.ts'

export type ExerciseReport = {
  readonly isolation: Isolation
  readonly agentUid: number
  readonly left: EchoReply
  readonly right: EchoReply
  /** The result of the attempt: 'ok', the text that was read, or the code of the error. */
  readonly attempts: Readonly<Record<Attempt, string>>
  readonly states: readonly CellState[]
  readonly exits: readonly Exit[]
  /** CPU in ms: at first, after an orphan has used 200 ms, after a SIGKILL, ready again, stopped. */
  readonly cpuMs: readonly number[]
  readonly cpuMsWhileFrozen: number
  readonly survivors: number
}
type Attempt =
  | 'ownData'
  | 'otherData'
  | 'otherRunFolder'
  | 'writeApplication'
  | 'connectCallee'
  | 'connectStranger'

export const BURN_MS = 200

export async function exercise(options: Partial<CellsOptions>): Promise<ExerciseReport> {
  const where = place(options)
  const cells = await createCells(where)
  const states: CellState[] = []
  cells.onChange((cell) => cell.spec.name === 'left' && states.push(cell.state))
  const environment = { NAME: 'a b', LD_PRELOAD: '', QUOTES: `'"$(id)\n\`\\`, PATH: '/nowhere' }
  const right = await cells.start(echoSpec(where, { name: 'right', socketGroup: 'callees' }))
  const left = await cells.start(
    echoSpec(where, {
      name: 'left',
      calls: ['callees'],
      environment,
      network: 'none',
      syscalls: 'tenant',
    }),
  )
  await Promise.all([right.ready(), left.ready()])
  const attempts = await attempt(left, right)
  const leftInfo = await ask<EchoReply>(left.socket, { ask: 'info' })
  const rightInfo = await ask<EchoReply>(right.socket, { ask: 'info' })

  const cpuMs: number[] = []
  const look = () => cpuMs.push(Number(left.cpuNs()) / 1e6)
  look()
  await burnToEnd(left)
  look()
  const cpuMsWhileFrozen = await freezeAndLook(left)
  const pid = left.pid
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
  await eventually(() => left.exits.length > 0)
  look()
  await left.ready()
  look()
  await cells.close()
  look()
  const found = survivors(where.root).length
  rmSync(where.root, { recursive: true })
  return {
    isolation: cells.isolation,
    agentUid: process.getuid?.() ?? -1,
    left: leftInfo,
    right: rightInfo,
    attempts,
    states,
    exits: left.exits,
    cpuMs,
    cpuMsWhileFrozen,
    survivors: found,
  }
}

async function attempt(left: Cell, right: Cell): Promise<ExerciseReport['attempts']> {
  const fileOf = (cell: Cell) => join(cell.spec.writes[0] ?? '', 'file')
  const { socket } = left
  await ask(right.socket, { ask: 'write', path: fileOf(right) })
  await ask(socket, { ask: 'write', path: fileOf(left) })
  const program = left.spec.argv[1] ?? ''
  return {
    ownData: await ask<string>(socket, { ask: 'read', path: fileOf(left) }),
    otherData: await ask<string>(socket, { ask: 'read', path: fileOf(right) }),
    otherRunFolder: await ask<string>(right.socket, { ask: 'write', path: `${socket}.other` }),
    writeApplication: await ask<string>(socket, { ask: 'write', path: `${program}.planted` }),
    connectCallee: await ask<string>(socket, { ask: 'connect', path: right.socket }),
    connectStranger: await ask<string>(right.socket, { ask: 'connect', path: socket }),
  }
}

async function burnToEnd(cell: Cell): Promise<void> {
  const done = join(cell.spec.writes[0] ?? '', 'done')
  await ask(cell.socket, { ask: 'burn', cpuMs: BURN_MS, done, orphan: true })
  // Polled like a meter would; without a cgroup a tree is only known by being looked at.
  const looked = () => {
    cell.cpuNs()
    return existsSync(done)
  }
  await eventually(looked, { everyMs: 5 })
}

async function freezeAndLook(cell: Cell): Promise<number> {
  const done = join(cell.spec.writes[0] ?? '', 'never')
  await ask(cell.socket, { ask: 'burn', cpuMs: 5000, done, orphan: false })
  const start = cell.cpuNs()
  await eventually(() => cell.cpuNs() > start + 20_000_000n)
  await cell.freeze(true)
  // A stop is taken when its process next runs, which a machine with more work than processors puts off
  // (20 ms were counted after it once). One that does not stop never stands still, nor afterwards.
  let before = cell.cpuNs()
  let stillSince = performance.now()
  const isStill = () => {
    const now = cell.cpuNs()
    if (now !== before) stillSince = performance.now()
    before = now
    return performance.now() - stillSince >= 50
  }
  await eventually(isStill, { limitMs: 2000, everyMs: 5 })
  await sleep(100)
  const used = Number(cell.cpuNs() - before) / 1e6
  await cell.freeze(false)
  return used
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = JSON.parse(process.argv[2] ?? '{}') as Partial<CellsOptions>
  process.stdout.write(`${JSON.stringify(await exercise(options))}\n`)
}
