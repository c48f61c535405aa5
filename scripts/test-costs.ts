// The cost of test files: wall time, and the CPU time of the test process with all its descendants, products included.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname, join } from 'node:path'

const KEPT = join('.cache', 'test-costs.json')
/** The walls of long files, in seconds, of a run on some machine: a fresh clone has no costs of its own. */
const RECORDED = join(import.meta.dirname, 'test-durations.json')
const RECORDED_S_MIN = 3
const DEAREST_SHOWN = 15
/** Linux counts CPU time in these, whatever its own clock is: USER_HZ. */
const TICK_MS = 10

/** Milliseconds of one file, of the wall clock and of CPU. */
export type Cost = { readonly ms: number; readonly cpuMs: number }
export type Costs = Readonly<Record<string, Cost>>

/** The costs of the last runs; none where nothing is kept. */
export function readCosts(path = KEPT): Costs {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Costs
  } catch {
    return {}
  }
}

/** Keeps new costs beside those of files that did not run. */
export function keepCosts(costs: Costs): void {
  mkdirSync(dirname(KEPT), { recursive: true })
  writeFileSync(KEPT, JSON.stringify({ ...readCosts(), ...costs }, undefined, 1))
}

/** The recorded milliseconds of files that take long. */
export const readDurations = (): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, number>).map(
      ([file, s]) => [file, 1000 * s],
    ),
  )

/** Records the durations of this run's files, for machines that never ran them; files that are gone are dropped. */
export function recordDurations(costs: Costs): void {
  const seconds = new Map<string, number>()
  for (const [file, ms] of Object.entries(readDurations())) seconds.set(file, ms / 1000)
  for (const [file, { ms }] of Object.entries(costs)) seconds.set(file, Math.round(ms / 1000))
  const long = [...seconds].filter(([file, s]) => s >= RECORDED_S_MIN && existsSync(file))
  const sorted = Object.fromEntries(long.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  writeFileSync(RECORDED, `${JSON.stringify(sorted, undefined, 2)}\n`)
}

/** CPU time of a process and of all its descendants, ended ones included, in milliseconds. Source: proc(5). */
export function cpuOfTreeMs(root: number): number {
  const all = new Map<number, { readonly parent: number; readonly ticks: number }>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The second field may hold spaces; the fields after it begin with the state, field 3.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      // utime, stime, cutime and cstime: fields 14 to 17.
      const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0)
      all.set(Number(name), { parent: fields[1] ?? 0, ticks })
    } catch {
      // The process has ended; its parent has its ticks.
    }
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (all.has(pid) && isBelow(all.get(pid)?.parent ?? 0))
  let ticks = 0
  for (const [pid, each] of all) if (isBelow(pid)) ticks += each.ticks
  return ticks * TICK_MS
}

/** Splits the CPU time of this process tree between files: each has the time until the next file begins. */
export function createStopwatch() {
  const cpuMs: Record<string, number> = {}
  let current = ''
  let lastMs = 0
  const turn = (next: string): void => {
    const nowMs = cpuOfTreeMs(process.pid)
    cpuMs[current] = (cpuMs[current] ?? 0) + nowMs - lastMs
    lastMs = nowMs
    current = next
  }
  return {
    enter: turn,
    /** Ends the last file; the CPU time of each, in milliseconds. The start of the process is under ''. */
    stop: (): Readonly<Record<string, number>> => {
      turn('')
      return cpuMs
    },
  }
}

/** Times of all cores since the machine began, in milliseconds; waits for disks and for the host are in neither. */
export function coresMs(): { readonly busyMs: number; readonly idleMs: number } {
  const times = cpus().map((core) => core.times)
  return {
    busyMs: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0),
    idleMs: times.reduce((sum, { idle }) => sum + idle, 0),
  }
}

/**
 * The end of a run in words: the dearest files by CPU, and how busy the machine was since `began`. Processes of a browser
 * have parents that end before them, and count for no file: the busy time of the cores has them.
 */
export function costsReport(
  costs: Costs,
  startsCpuMs: number,
  wallMs: number,
  began: ReturnType<typeof coresMs>,
): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const lines = Object.entries(costs)
    .toSorted(([, one], [, other]) => other.cpuMs - one.cpuMs)
    .slice(0, DEAREST_SHOWN)
    .map(
      ([file, { ms, cpuMs }]) =>
        `${seconds(cpuMs).padStart(8)} ${seconds(ms).padStart(8)}  ${file}\n`,
    )
  const totalMs = Object.values(costs).reduce((sum, { cpuMs }) => sum + cpuMs, startsCpuMs)
  const ended = coresMs()
  const busyMs = ended.busyMs - began.busyMs
  const allMs = busyMs + ended.idleMs - began.idleMs
  return [
    '\n   CPU s   wall s  the dearest files\n',
    ...lines,
    `Total: ${seconds(totalMs)} s of CPU, ${seconds(startsCpuMs)} s of it starts and imports; `,
    `${seconds(wallMs)} s of wall time; the machine used ${seconds(busyMs)} s, `,
    `${Math.round((100 * busyMs) / allMs)} % of ${cpus().length} cores\n`,
  ].join('')
}
