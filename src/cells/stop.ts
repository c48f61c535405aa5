// Stops and freezes a tree of processes and finds out when the tree is empty: by its cgroup, or by /proc where
// there is none. One way to end: a signal to the program, a time of grace, then SIGKILL to the whole tree.
import { baseFault } from '#base/own-errors.ts'
import { type Clock, sleep } from '#base/clock.ts'

import type { CpuCause } from './cell.ts'
import type { Cgroup } from './cgroup.ts'
import { INIT_NAME, ROOT_INIT_NAME } from './launch.ts'
import {
  isAlive,
  type Lineage,
  type ProcessEntry,
  readArguments,
  readProcess,
  readProcesses,
  readTree,
} from './process-table.ts'

export type Tree = {
  kill(): void
  isEmpty(): boolean
  freeze(frozen: boolean): Promise<void>
  /** Thousandths of a processor; undefined lifts the limit. Nothing where only a group can be limited. */
  limitCpu(cause: CpuCause, milli: number | undefined): void
}
/** The processes of a running cell. */
export type CellTree = Tree & { processes(): readonly ProcessEntry[] }

const EMPTY_TIMEOUT_MS = 10_000
const FREEZE_TIMEOUT_MS = 2000
const LOOK_MS = 3

export function treeOfCgroup(group: Cgroup, clock: Clock): CellTree {
  return {
    processes: () => group.pids().flatMap((pid) => readProcess(pid) ?? []),
    kill() {
      group.kill()
      // A kernel before 6.18 lets a process that has used its part end in the next period.
      group.liftCpu()
    },
    limitCpu: group.limitCpu,
    isEmpty: () => !group.isPopulated(),
    freeze: async (frozen) => {
      group.freeze(frozen)
      // A task in an uninterruptible wait freezes when it leaves it.
      await until(() => group.isFrozen() === frozen, FREEZE_TIMEOUT_MS, clock, 'freeze')
    },
  }
}

/** The tree of a lineage, as /proc shows it. */
export function treeOfLineage(lineage: () => Lineage | undefined, clock: Clock): CellTree {
  const alive = (): ProcessEntry[] => {
    const named = lineage()
    return named === undefined ? [] : readTree(named).filter(isAlive)
  }
  return {
    processes: alive,
    kill: () => alive().forEach(({ pid }) => signalProcess(pid, 'SIGKILL')),
    isEmpty: () => alive().length === 0,
    limitCpu: () => undefined,
    freeze: async (frozen) => {
      const isWrong = ({ state }: ProcessEntry) => (state === 'T') !== frozen
      // Again until a scan finds none: a process may fork between the scan and the signal.
      await until(
        () => {
          const wrong = alive().filter(isWrong)
          wrong.forEach(({ pid }) => signalProcess(pid, frozen ? 'SIGSTOP' : 'SIGCONT'))
          return wrong.length === 0
        },
        FREEZE_TIMEOUT_MS,
        clock,
        'freeze',
      )
    },
  }
}

/** SIGKILL until nothing is left. */
export async function killTree(tree: Tree, clock: Clock): Promise<void> {
  const look = () => {
    if (tree.isEmpty()) return true
    tree.kill()
    return false
  }
  await until(look, EMPTY_TIMEOUT_MS, clock, 'end')
}

/**
 * The program of a cell, or undefined before it has been started. Without namespaces it is the leader
 * itself; with them the leader is unshare(1), its child our init, and the program the oldest child of
 * that (younger ones are orphans that init has taken in). A process before init, such as mount(8),
 * is not the program: a signal to it would be lost.
 */
export function findProgram(
  leader: number,
  hasInit: boolean,
  processes: readonly ProcessEntry[] = hasInit ? readProcesses() : [],
): number | undefined {
  if (!hasInit) return leader
  const childrenOf = (parent: number) => processes.filter((entry) => entry.parent === parent)
  return childrenOf(leader)
    .filter(({ pid }) => isInit(readArguments(pid)))
    .flatMap(({ pid }) => childrenOf(pid))
    .toSorted((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)[0]?.pid
}

const isInit = ([first, , , fourth]: readonly string[]) =>
  first === ROOT_INIT_NAME || fourth === INIT_NAME

/** Sends a signal to a process that may have ended meanwhile. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function until(done: () => boolean, timeoutMs: number, clock: Clock, what: string) {
  const last = clock.monotonicMs() + timeoutMs
  while (!done()) {
    if (clock.monotonicMs() > last)
      throw baseFault('internal', `The processes of a cell do not ${what} within: ${timeoutMs} ms`)
    await sleep(LOOK_MS)
  }
}
