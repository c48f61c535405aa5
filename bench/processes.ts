// CPU time and memory of processes, from /proc.
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import {
  NS_PER_TICK,
  readArguments,
  readProcess,
  readProcesses,
  type ProcessEntry,
} from '#cells/process-table.ts'

/** CPU time that a process has used so far, in microseconds; its steps are 10 ms. */
export const cpuUs = (pid: number): number => (readProcess(pid)?.ownTicks ?? 0) * US_PER_TICK

const US_PER_TICK = Number(NS_PER_TICK / 1000n)

/** A process and everything below it. */
export function descendants(pid: number): ProcessEntry[] {
  const processes = readProcesses()
  const found = new Map(processes.filter((one) => one.pid === pid).map((one) => [one.pid, one]))
  for (let grown = true; grown;) {
    grown = false
    for (const one of processes)
      if (!found.has(one.pid) && found.has(one.parent)) {
        found.set(one.pid, one)
        grown = true
      }
  }
  return [...found.values()]
}

/** CPU of a process, its living descendants and those that were waited for, in microseconds. */
export const treeCpuUs = (pid: number): number =>
  descendants(pid).reduce((sum, one) => sum + (one.ownTicks + one.waitedTicks) * US_PER_TICK, 0)

/** The name of a process of the product: the script that its Node.js runs, or its program. */
export function programOf(pid: number): string {
  const [command = '', ...rest] = readArguments(pid)
  const program = basename(command.split(':')[0] ?? '')
  const script = rest.find((argument) => /^[^-].*\.(ts|mjs|js)$/.test(argument))
  return program === 'node' && script !== undefined ? basename(script, extname(script)) : program
}

/** Proportional set size in MiB; undefined when the process is gone. */
export function pssMib(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss: +(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) / 1024
  } catch {
    return undefined
  }
}
