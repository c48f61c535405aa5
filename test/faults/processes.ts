// The processes of a running Ergon, found as an outsider would: by its operator's status and by /proc.
import assert from 'node:assert/strict'
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
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

export const statusOf = (ergon: Ergon): Promise<Status> => ergon.control('node.status')

/** The program of a cell; undefined while it is between two lives. */
export async function programOf(ergon: Ergon, name: string): Promise<number | undefined> {
  const { cells } = await statusOf(ergon)
  return cells.find((cell) => cell.name === name)?.pid ?? undefined
}

/**
 * The program of a cell once it is ready: some cells start after the gateways answer, and a starting cell may end and
 * be started anew.
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
    .flatMap((pid) => lineOf(pid, marks) ?? [])
}

/** Those of the lines that processesOf() gave whose processes are still there. */
export const stillThere = (lines: readonly string[], marks: readonly string[]): string[] =>
  lines.filter((line) => lineOf(line.slice(0, line.indexOf(' ')), marks) !== undefined)

/** A process and its arguments when it is marked, and still has its memory. */
function lineOf(pid: string, marks: readonly string[]): string | undefined {
  const isMarked = (text: Buffer) => marks.some((mark) => text.includes(mark))
  const seen = read(pid, 'cmdline')
  if (seen.length === 0) return undefined
  const line = `${pid} ${seen.toString('latin1', 0, 120).replaceAll('\0', ' ')}`
  if (isMarked(seen) || isMarked(read(pid, 'environ')) || isMarked(read(pid, 'cgroup'))) return line
  return marks.some((mark) => link(pid).includes(mark)) ? line : undefined
}

// One buffer for all reads: a scan of a whole machine with a buffer for each read took twice the time.
const PROC_FILE_BYTES_MAX = 1024 * 1024
const bytes = Buffer.alloc(PROC_FILE_BYTES_MAX)

/** The content of a process's file, until the next read; empty when the process is gone, or another user's. */
function read(pid: string, file: string): Buffer {
  let length = 0
  try {
    const descriptor = openSync(`/proc/${pid}/${file}`, 'r')
    try {
      for (let last = -1; last !== 0 && length < bytes.length; length += last)
        last = readSync(descriptor, bytes, length, bytes.length - length, null)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Gone, or another user's: then it is not ours.
    length = 0
  }
  return bytes.subarray(0, length)
}

function link(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
