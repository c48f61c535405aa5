// Control groups of cells. Version 2 meters, freezes and kills: none of that needs a controller, so it
// works also where the hybrid layout leaves all controllers to version 1. Version 1 only limits.
// One group per cell below one of our instance, inside the group that the agent was started in.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
} from 'node:fs'
import { rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { baseFault } from '#base/own-errors.ts'

import { type Clock, sleep } from '#base/clock.ts'

import type { CpuCause } from './cell.ts'

export type CgroupMounts = {
  /** Our own version 2 group, below which the cells' groups are made. */
  readonly unified: string | undefined
  /** Our own version 1 groups of the controllers that limit. */
  readonly memory: string | undefined
  readonly pids: string | undefined
  readonly cpu: string | undefined
}

export type CgroupLimits = {
  readonly memoryBytes?: number
  readonly processes?: number
  readonly cpuMilli?: number
  /** Its processors may be limited while it runs. */
  readonly mayLimitCpu?: boolean
}

/** Our groups of one cell, by controller. */
type CgroupFolders = {
  readonly unified: string
  readonly memory?: string
  readonly pids?: string
  readonly cpu?: string
  /** Groups of version 1 that an engine makes at each start of a container, and gives the limits of the cell. */
  readonly engineCpu?: () => readonly string[]
}

export type Cgroup = {
  /** The files that a process writes its pid to in order to join. */
  readonly joins: readonly string[]
  /** CPU of every process that was ever in it. */
  cpuNs(): bigint
  /** Processes that the kernel has killed because the limit of memory was reached. */
  memoryKills(): number
  /** SIGKILL to all of it at once (cgroup.kill, Linux 5.14), also when frozen. */
  kill(): void
  freeze(frozen: boolean): void
  /**
   * The limit in thousandths of a processor; undefined lifts the limit of this cause. The least of all causes holds.
   */
  limitCpu(cause: CpuCause, milli: number | undefined): void
  /** Slows an engine's groups that are there only now. */
  limitStarted(): void
  /** Lifts the limits of all causes. */
  liftCpu(): void
  isFrozen(): boolean
  isPopulated(): boolean
  /** The processes of it, and of groups below. */
  pids(): readonly number[]
  /** Waits until it is empty and removes it; the total stays readable. */
  remove(): Promise<void>
}

const REMOVE_TIMEOUT_MS = 5000
/** The kernel's default: a cell that has used its part waits for the rest of it. */
const CPU_PERIOD_US = 100_000
/** Of a running cell that is slowed: what it does at once, before it waits, is small. */
const SLOW_PERIOD_US = 10_000
/** The least that the kernel takes. */
const CPU_QUOTA_MIN_US = 1000
const CPU_MILLI_MIN = 10
const MILLI = 1000
const NS_PER_US = 1000n

/** Where cgroups are, by /proc/self/mountinfo and /proc/self/cgroup. cgroups(7). */
export function findCgroups(): CgroupMounts {
  const own = new Map<string, string>()
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')) {
    const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    for (const controller of controllers.split(',')) own.set(controller, path)
  }
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n').map(parseMount)
  const ownGroup = (type: string, controller: string): string | undefined => {
    const path = own.get(controller)
    const mount = mounts.find(
      (found) => found.type === type && (type === 'cgroup2' || found.options.includes(controller)),
    )
    // A path with .. is outside of our cgroup namespace; a mount of a part shows only that part.
    if (mount === undefined || path === undefined || path.includes('..')) return undefined
    if (mount.root === '/') return join(mount.point, path)
    return path.startsWith(mount.root)
      ? join(mount.point, path.slice(mount.root.length))
      : undefined
  }
  return {
    unified: ownGroup('cgroup2', ''),
    memory: ownGroup('cgroup', 'memory'),
    pids: ownGroup('cgroup', 'pids'),
    cpu: ownGroup('cgroup', 'cpu'),
  }
}

function parseMount(line: string): {
  root: string
  point: string
  type: string
  options: string[]
} {
  const [before = '', after = ''] = line.split(' - ')
  const [, , , root = '/', point = ''] = before.split(' ')
  const [type = '', , options = ''] = after.split(' ')
  return { root, point: point.replaceAll('\\040', ' '), type, options: options.split(',') }
}

/** Makes the group of a cell, or takes it over when it exists and is empty. */
export function createCgroup(folders: CgroupFolders, limits: CgroupLimits, clock: Clock): Cgroup {
  const { unified } = folders
  mkdirSync(unified, { recursive: true })
  limitVersion2(unified, limits)
  const limiting = limitVersion1(folders, limits)
  const statDescriptor = openSync(join(unified, 'cpu.stat'), 'r')
  const buffer = Buffer.alloc(64)
  let total = 0n
  let removed = false
  const causes = new Map<CpuCause, number>()
  let slowMilli: number | undefined

  const cpuNs = () => {
    if (removed) return total
    // pread on a kept descriptor: 4.9 µs, a third of open, read and close.
    const length = readSync(statDescriptor, buffer, 0, buffer.length, 0)
    total = usageNs(buffer.toString('latin1', 0, length))
    return total
  }
  const slow = (): void => {
    const least = Math.min(...causes.values(), limits.cpuMilli ?? Infinity)
    const milli = least < (limits.cpuMilli ?? Infinity) ? least : undefined
    if (removed || milli === slowMilli) return
    slowMilli = milli
    write()
  }
  const write = (): void => {
    const bandwidth = slowMilli === undefined ? ownBandwidth(limits) : slowBandwidth(slowMilli)
    if (existsSync(join(unified, 'cpu.max'))) return limitCpuVersion2(unified, bandwidth)
    // A group around them could have no limit below theirs: the kernel refuses it.
    for (const folder of folders.engineCpu?.() ?? []) limitEngineCpu(folder, bandwidth)
    if (folders.cpu !== undefined && limiting.includes(folders.cpu))
      limitCpuVersion1(folders.cpu, bandwidth)
  }
  const isPopulated = () => !removed && hasEvent(unified, 'populated')
  return {
    joins: [unified, ...limiting].map((folder) => join(folder, 'cgroup.procs')),
    cpuNs,
    memoryKills: () =>
      killsIn(unified, 'memory.events') + killsIn(folders.memory, 'memory.oom_control'),
    kill: () => removed || writeFileSync(join(unified, 'cgroup.kill'), '1'),
    freeze: (frozen) => writeFileSync(join(unified, 'cgroup.freeze'), frozen ? '1' : '0'),
    limitCpu(cause, milli) {
      if (milli === undefined) causes.delete(cause)
      else causes.set(cause, Math.max(milli, CPU_MILLI_MIN))
      slow()
    },
    limitStarted: () => void (slowMilli !== undefined && write()),
    liftCpu() {
      causes.clear()
      slow()
    },
    isFrozen: () => hasEvent(unified, 'frozen'),
    isPopulated,
    pids: () => (removed ? [] : processesOf(unified)),
    remove: async () => {
      if (removed) return
      await untilEmpty(isPopulated, unified, clock)
      cpuNs()
      removed = true
      closeSync(statDescriptor)
      for (const folder of [unified, ...limiting]) await removeFolder(folder, clock)
    },
  }
}

/** The groups below a folder: what an earlier life of this instance may have left. */
export function leftGroups(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Removes an empty group and those below; the kernel says EBUSY for a moment after its last process has ended. */
export async function removeFolder(folder: string, clock: Clock): Promise<void> {
  for (const name of leftGroups(folder)) await removeFolder(join(folder, name), clock)
  const until = clock.monotonicMs() + REMOVE_TIMEOUT_MS
  for (;;) {
    try {
      return rmdirSync(folder)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENOENT') return
      if (code !== 'EBUSY' || clock.monotonicMs() > until) throw error
    }
    await sleep(5)
  }
}

async function untilEmpty(isPopulated: () => boolean, folder: string, clock: Clock) {
  const until = clock.monotonicMs() + REMOVE_TIMEOUT_MS
  while (isPopulated()) {
    if (clock.monotonicMs() > until)
      throw baseFault('internal', `Processes do not end in: ${folder}`)
    await sleep(2)
  }
}

/** `usage_usec` of a cpu.stat, its first line, in ns. */
export function usageNs(cpuStat: string): bigint {
  const found = /^usage_usec (\d+)$/m.exec(cpuStat)
  if (found?.[1] === undefined) throw baseFault('internal', `Not a cpu.stat: ${cpuStat}`)
  return BigInt(found[1]) * NS_PER_US
}

const hasEvent = (folder: string, event: 'populated' | 'frozen') =>
  readFileSync(join(folder, 'cgroup.events'), 'utf8').includes(`${event} 1`)

const processesOf = (folder: string): readonly number[] => [
  ...readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number),
  ...leftGroups(folder).flatMap((name) => processesOf(join(folder, name))),
]

/** `oom_kill` of a file of a group; 0 where the group has no such file. */
function killsIn(folder: string | undefined, file: string): number {
  if (folder === undefined || !existsSync(join(folder, file))) return 0
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? 0)
}

function limitVersion2(folder: string, limits: CgroupLimits): void {
  const controllers = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').trim().split(' ')
  if (controllers.includes('memory')) {
    writeFileSync(join(folder, 'memory.max'), String(limits.memoryBytes ?? 'max'))
    writeFileSync(join(folder, 'memory.oom.group'), '1')
  }
  if (controllers.includes('pids'))
    writeFileSync(join(folder, 'pids.max'), String(limits.processes ?? 'max'))
  if (controllers.includes('cpu')) limitCpuVersion2(folder, ownBandwidth(limits))
}

/** Time of processors in each period; without a quota all of it. */
type CpuBandwidth = { readonly quotaUs: number | undefined; readonly periodUs: number }

const ownBandwidth = ({ cpuMilli }: CgroupLimits): CpuBandwidth =>
  bandwidthIn(CPU_PERIOD_US, cpuMilli)

/** The shortest period whose quota the kernel takes. */
const slowBandwidth = (milli: number): CpuBandwidth =>
  bandwidthIn(
    Math.min(
      CPU_PERIOD_US,
      Math.max(SLOW_PERIOD_US, Math.ceil((CPU_QUOTA_MIN_US * MILLI) / milli)),
    ),
    milli,
  )

const bandwidthIn = (periodUs: number, milli: number | undefined): CpuBandwidth => ({
  quotaUs: milli === undefined ? undefined : Math.round((milli * periodUs) / MILLI),
  periodUs,
})

const limitCpuVersion2 = (folder: string, { quotaUs, periodUs }: CpuBandwidth): void =>
  writeFileSync(join(folder, 'cpu.max'), `${quotaUs ?? 'max'} ${periodUs}`)

/** The kernel refuses a limit above the limit of a group around it, which holds then anyway. */
function limitCpuVersion1(folder: string, { quotaUs, periodUs }: CpuBandwidth): void {
  const file = join(folder, 'cpu.cfs_quota_us')
  // The quota of one period may be too much for the other.
  writeFileSync(file, '-1')
  writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodUs))
  if (quotaUs === undefined) return
  try {
    writeFileSync(file, String(quotaUs))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EINVAL')) throw error
  }
}

/** The engine may have removed the group since it was found. */
function limitEngineCpu(folder: string, bandwidth: CpuBandwidth): void {
  try {
    limitCpuVersion1(folder, bandwidth)
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && GONE.has(String(error.code))
    if (!isGone) throw error
  }
}

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENODEV'])

function limitVersion1(folders: Omit<CgroupFolders, 'unified'>, limits: CgroupLimits): string[] {
  const limiting: string[] = []
  if (folders.memory !== undefined && limits.memoryBytes !== undefined) {
    mkdirSync(folders.memory, { recursive: true })
    writeFileSync(join(folders.memory, 'memory.limit_in_bytes'), String(limits.memoryBytes))
    limiting.push(folders.memory)
  }
  if (folders.pids !== undefined && limits.processes !== undefined) {
    mkdirSync(folders.pids, { recursive: true })
    writeFileSync(join(folders.pids, 'pids.max'), String(limits.processes))
    limiting.push(folders.pids)
  }
  const { cpuMilli, mayLimitCpu } = limits
  if (folders.cpu !== undefined && (cpuMilli !== undefined || mayLimitCpu === true)) {
    mkdirSync(folders.cpu, { recursive: true })
    limitCpuVersion1(folders.cpu, ownBandwidth(limits))
    limiting.push(folders.cpu)
  }
  return limiting
}
