// Cells: supervised, metered, isolated process trees. This folder knows how to start, watch and end one on
// this machine; what runs in it, who pays and where its requests go is known elsewhere.
import { baseFault } from '#base/own-errors.ts'

import type { Cell, Cells, CellSpec } from './cell.ts'
import { checkCommand } from './launch.ts'
import { openPlace, type PlaceOptions } from './place.ts'
import { prepareContainer } from './prepare-container.ts'
import { prepareCell } from './prepare.ts'
import { checkBackoff } from './restart.ts'
import { readProcesses } from './process-table.ts'
import { findProgram } from './stop.ts'
import { superviseCell, type SupervisedCell } from './supervise.ts'

export type CellsOptions = PlaceOptions

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/**
 * Takes the data folder's cells for this process alone, chooses the isolation level, and clears away
 * what an earlier life has left. Throws `locked` when another agent runs on the data folder.
 */
export async function createCells(options: CellsOptions): Promise<Cells> {
  const place = await openPlace(options)
  const { isolation } = place
  const cells = new Map<string, SupervisedCell>()
  const starting = new Map<string, Promise<Cell>>()
  const listeners = new Set<(cell: Cell) => void>()
  let closed: Promise<void> | undefined

  const begin = async (spec: CellSpec) => {
    const { container } = spec
    const prepared =
      container === undefined
        ? await prepareCell(spec, place)
        : await prepareContainer({ ...spec, container }, place)
    const cell = superviseCell(spec, {
      ...prepared,
      changed: (changed) => listeners.forEach((listener) => listener(changed)),
    })
    cells.set(spec.name, cell)
    return cell
  }
  const check = (spec: CellSpec) => {
    checkSpec(spec)
    if (closed !== undefined) throw cannotStart('the agent is stopping', spec)
    if (starting.has(spec.name) || isRunning(cells.get(spec.name)))
      throw cannotStart('one of its name runs', spec)
  }
  const start = async (spec: CellSpec) => {
    check(spec)
    const begun = begin(spec)
    starting.set(spec.name, begun)
    try {
      return await begun
    } finally {
      starting.delete(spec.name)
    }
  }
  const close = async (graceMs?: number) => {
    await Promise.allSettled(starting.values())
    await Promise.all([...cells.values()].map((cell) => cell.stop(graceMs)))
    await place.close()
  }
  return {
    level: isolation.level,
    meter: isolation.meter,
    isolation,
    start,
    disown: async (name) => await place.uids?.disown(name),
    assign(spare, spec) {
      check(spec)
      const assigned = cells.get(spare.spec.name)?.giveUp()
      if (assigned === undefined) return undefined
      cells.delete(spare.spec.name)
      const cell = superviseCell(spec, assigned.deps, assigned)
      cells.set(spec.name, cell)
      return cell
    },
    list: () => [...cells.values()].filter(isRunning),
    programs: () => programsOf([...cells.values()], isolation.level !== 'plain'),
    onChange: (listener) => void listeners.add(listener),
    close: (graceMs) => (closed ??= close(graceMs)),
  }
}

function programsOf(cells: readonly Cell[], isIsolating: boolean): Map<Cell, number> {
  // A single scan of all processes: one for each cell blocked the agent for 0.5 s.
  const processes = isIsolating ? readProcesses() : []
  const found = new Map<Cell, number>()
  for (const cell of cells) {
    const hasInit = isIsolating && cell.spec.container === undefined
    const pid = cell.pid === undefined ? undefined : findProgram(cell.pid, hasInit, processes)
    if (pid !== undefined) found.set(cell, pid)
  }
  return found
}

const isRunning = (cell: Cell | undefined) => cell !== undefined && cell.state !== 'stopped'

const cannotStart = (why: string, spec: CellSpec) =>
  baseFault('internal', `Cannot start a cell, as ${why}: ${spec.name}`)

function checkSpec(spec: CellSpec): void {
  for (const name of [spec.name, spec.user ?? spec.name, spec.socketGroup, ...spec.calls])
    if (!NAME.test(name))
      throw new TypeError(`Not a name for a cell or a group of sockets: ${name}`)
  if (spec.socket.includes('/')) throw new TypeError(`Not the name of a socket: ${spec.socket}`)
  checkBackoff(spec.restart)
  if (spec.container === undefined) checkCommand(spec)
}
