// The processes of a running Ergon, found as an outsider would: by its operator's status and by /proc.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { findProgram } from '#cells/stop.ts'
import { readProcesses } from '#cells/process-table.ts'
import type { Ergon } from '../start-ergon.ts'

const READY_MAX_MS = 90_000

export type CellStatus = {
  readonly name: string
  readonly state: string
  readonly pid: number | null
  readonly restarts: number
}
export type Status = {
  readonly isolation: { readonly level: string }
  readonly cells: readonly CellStatus[]
}

export const statusOf = (ergon: Ergon): Promise<Status> => ergon.control<Status>('GET', '/status')

/** The program of a cell, not the launcher around it; undefined while it is between two lives. */
export async function programOf(ergon: Ergon, name: string): Promise<number | undefined> {
  const { cells, isolation } = await statusOf(ergon)
  const pid = cells.find((cell) => cell.name === name)?.pid
  return pid == null ? undefined : findProgram(pid, isolation.level !== 'plain')
}

/**
 * The program of a cell once it is ready: some cells start after the doors answer, and one that is still
 * starting may end and be started anew.
 */
export async function readyProgramOf(ergon: Ergon, name: string): Promise<number> {
  for (const last = performance.now() + READY_MAX_MS; ; await pause(50)) {
    const { cells } = await statusOf(ergon)
    const isReady = cells.find((cell) => cell.name === name)?.state === 'ready'
    const pid = isReady ? await programOf(ergon, name) : undefined
    if (pid !== undefined) return pid
    assert.ok(performance.now() < last, `${name} does not get ready`)
  }
}

/** The processes whose parent is `pid`. */
export const childrenOf = (pid: number): number[] =>
  readProcesses()
    .filter((entry) => entry.parent === pid)
    .map((entry) => entry.pid)

/**
 * Processes that belong to an Ergon: one of its folders is in their arguments, environment, working
 * folder, or they are in one of its control groups. Zombies, and what is on its way out in the kernel,
 * have given up their memory and with it their arguments: they are not counted.
 */
export function processesOf(marks: readonly string[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(pid, 'cmdline') !== '')
    .filter((pid) => {
      const seen = [read(pid, 'cmdline'), read(pid, 'environ'), read(pid, 'cgroup'), link(pid)]
      return marks.some((mark) => seen.some((text) => text.includes(mark)))
    })
    .map((pid) => `${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 120)}`)
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // Gone, or another user's: then it is not ours.
    return ''
  }
}

function link(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
