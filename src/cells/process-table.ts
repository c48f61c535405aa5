// Processes as /proc shows them: parents, start times and CPU.
import { readdirSync, readFileSync } from 'node:fs'

import type { Clock } from '#base/clock.ts'

export type ProcessEntry = {
  readonly pid: number
  readonly parent: number
  readonly session: number
  readonly state: string
  /** Clock ticks since boot: with the pid and the boot it names a process for ever. */
  readonly startTicks: number
  /** CPU of its threads, dead ones included. */
  readonly ownTicks: number
  /** CPU of the children that it has waited for, and of theirs. */
  readonly waitedTicks: number
  /** Its real uid, where that was asked for. */
  readonly uid?: number | undefined
}

/** USER_HZ: what the kernel shows to user space is 100 per second on every platform of ours. */
export const NS_PER_TICK = 10_000_000n
const LOOK_AGE_MAX_MS = 20

/** The entry of a process, or undefined when there is none. proc_pid_stat(5). */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readProc(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The second field is the name in parentheses, which may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (index: number) => Number(fields[index - 3])
  return {
    pid,
    state: fields[0] ?? '?',
    parent: at(4),
    session: at(6),
    ownTicks: at(14) + at(15),
    waitedTicks: at(16) + at(17),
    startTicks: at(22),
  }
}

/** Every process that this one can see. About 20 µs each, and as much again for the uids. */
export function readProcesses(withUids = false): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const entry = readProcess(Number(name))
      if (entry === undefined) return []
      return withUids ? { ...entry, uid: realUid(entry.pid) } : entry
    })
}

/** The arguments of a process; none when it is gone or a zombie. */
export const readArguments = (pid: number): string[] =>
  (readProc(`/proc/${pid}/cmdline`) ?? '').split('\0')

/** The boot that `startTicks` count from. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** The identity of the processes of one life of a cell. */
export type Lineage = {
  readonly leader: number
  /** The uid that only this cell has, if it has one: then nothing can leave the tree. */
  readonly uid?: number | undefined
  /** Processes seen before: pid → startTicks. */
  readonly known?: ReadonlyMap<number, number>
}

/**
 * The tree of a leader: its descendants, its session (a cell is started as the leader of one), the processes of its
 * uid (read with uids then), and the processes seen in it before. Without a uid or a pid namespace a process can hide
 * from this: it must fork twice and call setsid between two looks.
 */
export function treeOf(lineage: Lineage, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const { leader, uid, known } = lineage
  const members = new Map<number, ProcessEntry>()
  for (const entry of processes)
    if (
      entry.pid === leader ||
      entry.session === leader ||
      known?.get(entry.pid) === entry.startTicks ||
      (uid !== undefined && entry.uid === uid)
    )
      members.set(entry.pid, entry)
  for (let grown = true; grown;) {
    grown = false
    for (const entry of processes) {
      if (members.has(entry.pid) || !members.has(entry.parent)) continue
      members.set(entry.pid, entry)
      grown = true
    }
  }
  return [...members.values()]
}

/** The facts of this moment that treeOf needs. */
export const readTree = (lineage: Lineage): ProcessEntry[] =>
  treeOf(lineage, readProcesses(lineage.uid !== undefined))

/**
 * A scan of all processes, at most 20 ms old: the meters of all cells are read together, and a scan takes 3 ms
 * at 100 processes.
 */
export function createSharedLook(clock: Clock, withUids: boolean): () => readonly ProcessEntry[] {
  let look: readonly ProcessEntry[] = []
  let takenMs = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.monotonicMs() - takenMs > LOOK_AGE_MAX_MS) {
      look = readProcesses(withUids)
      takenMs = clock.monotonicMs()
    }
    return look
  }
}

/** The uid comes from the status file: root owns /proc/<pid> of a process that may not be dumped. */
function realUid(pid: number): number | undefined {
  const found = /^Uid:\t(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '')
  return found === null ? undefined : Number(found[1])
}

export const isAlive = (entry: ProcessEntry): boolean => entry.state !== 'Z' && entry.state !== 'X'

/** The text of a file under /proc, or undefined when its process is gone. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
