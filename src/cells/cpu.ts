// CPU time where no cgroup counts it: a kept total over what /proc shows of a tree; and the busy time of
// the whole machine, which windows are checked against.
import { readFileSync } from 'node:fs'

import { type Lineage, NS_PER_TICK, type ProcessEntry, treeOf } from './process-table.ts'

export type TreeMeter = {
  /** pid → startTicks of every process seen in the tree that may still live. */
  readonly known: ReadonlyMap<number, number>
  cpuNs(): bigint
  /** The life has ended: what was last seen of it joins the total. */
  endLife(): void
}

/**
 * A meter of the tree below `leader()`, over all its lives; `hasInit` where an init in it waits for orphans. Each process
 * counts its own CPU and that of the children that it has waited for. A process that vanishes without being waited for
 * inside the tree keeps its last figure. The meter misses the CPU after the last poll of a process whose parent lies
 * outside the tree. It misses a double fork between two polls (measured: 0.00 of 0.2 s), except with a uid of its own,
 * or in a pid namespace, whose init waits for every orphan. So tenant code is refused without them.
 */
export function createTreeMeter(
  lineage: () => Lineage | undefined,
  processes: () => readonly ProcessEntry[],
  hasInit: boolean,
): TreeMeter {
  const known = new Map<number, number>()
  let last = new Map<number, ProcessEntry>()
  // Zombies of the life before, already in the total, that their new parent has not waited for yet.
  let settled = new Map<number, ProcessEntry>()
  let goneTicks = 0
  let totalTicks = 0

  const look = () => {
    const named = lineage()
    const found = named === undefined ? [] : treeOf({ ...named, known }, processes())
    const tree = found.filter(({ pid, startTicks }) => settled.get(pid)?.startTicks !== startTicks)
    const now = new Map(tree.map((entry) => [entry.pid, entry]))
    for (const entry of last.values()) {
      if (now.get(entry.pid)?.startTicks === entry.startTicks) continue
      known.delete(entry.pid)
      // A parent in the tree, or the init of its namespace, has waited for it and counts it from now on.
      const isCounted = now.has(entry.parent) || (hasInit && now.size > 0)
      if (!isCounted) goneTicks += entry.ownTicks + entry.waitedTicks
    }
    for (const entry of now.values()) known.set(entry.pid, entry.startTicks)
    last = now
    const seen = [...now.values()].reduce((sum, { ownTicks, waitedTicks }) => {
      return sum + ownTicks + waitedTicks
    }, goneTicks)
    // A parent that ignores SIGCHLD drops its children's time: the total never goes back.
    totalTicks = Math.max(totalTicks, seen)
  }
  return {
    known,
    cpuNs: () => {
      look()
      return BigInt(totalTicks) * NS_PER_TICK
    },
    endLife: () => {
      look()
      for (const { ownTicks, waitedTicks } of last.values()) goneTicks += ownTicks + waitedTicks
      settled = last
      last = new Map()
      known.clear()
      goneTicks = Math.max(goneTicks, totalTicks)
      totalTicks = goneTicks
    },
  }
}

/**
 * Busy time of all CPUs since boot in ns: user, nice, system, irq and softirq of the first line of
 * /proc/stat (proc_stat(5)). Not idle and iowait, in which nothing runs; not steal, in which another
 * machine ran; guest time is in user already. It counts in ticks of 10 ms.
 */
export const readBusyNs = (): bigint => parseBusyNs(readFileSync('/proc/stat', 'latin1'))

/** The pure part of readBusyNs. */
export function parseBusyNs(stat: string): bigint {
  const [user = 0n, nice = 0n, system = 0n, , , irq = 0n, softirq = 0n] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/ +/)
    .slice(1)
    .map(BigInt)
  return (user + nice + system + irq + softirq) * NS_PER_TICK
}
