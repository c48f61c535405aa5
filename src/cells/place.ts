// Where cells are started: the lock, the uids, the groups and the folders that one agent holds while it
// lives. Taking it clears away what an earlier life of the same instance has left.
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, getPriority } from 'node:os'
import { join } from 'node:path'
import { baseFault } from '#base/own-errors.ts'

import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { lockFile } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'

import type { Isolation } from './cell.ts'
import { endWithAgent } from './end-with-agent.ts'
import type { Tools } from './launch.ts'
import { type IsolationLevel, type Probe, probe } from './probe.ts'
import { createSharedLook, type ProcessEntry } from './process-table.ts'
import { makeRunFolder, removeRunFolder } from './run-folder.ts'
import { createLifeRecords, type LifeRecords, sweepGroups, sweepRecords } from './sweep.ts'
import { claimUids, type IdRange, type Uids } from './uids.ts'

export type PlaceOptions = {
  /** A short path: sockets must fit into 107 bytes. Made anew at start, removed at close. */
  readonly runFolder: string
  readonly dataFolder: string
  /** The application, which every cell may read. */
  readonly appFolder: string
  /** Where the instances of this machine divide the uids among themselves. */
  readonly uidClaims?: string
  readonly uidRange?: IdRange
  /** Forces a level or a meter; throws when the machine cannot do it. */
  readonly level?: IsolationLevel
  readonly meter?: Isolation['meter']
  /** Absolute paths of programs that are not where they usually are. */
  readonly tools?: Partial<Tools>
  readonly log: Logger
  readonly clock: Clock
}

/** Of a process of priority 0; each step of priority is a factor (sched(7)). */
const CPU_SHARES = 1024
const CPU_SHARES_MIN = 2
const NICE = 1.25

export type CellFolders = Probe & {
  readonly runFolder: string
  readonly dataFolder: string
  readonly appFolder: string
  /** The folders of this instance's groups, by kind. */
  readonly groups: Groups
  readonly uids: Uids | undefined
  readonly records: LifeRecords
  /** Where there is no cgroup: a scan of all processes, with uids if a tree is known by one. */
  readonly look: () => readonly ProcessEntry[]
  readonly treesByUid: boolean
  readonly clock: Clock
  readonly log: Logger
  /** From now on the end of the agent, however it comes, ends all that is in the groups. */
  endWithAgent(): void
  close(): Promise<void>
}
export type Groups = { unified?: string; memory?: string; pids?: string; cpu?: string }

const UID_CLAIMS = '/var/lib/ergon/uids'

/** Throws `locked` when another agent runs on the data folder. */
export async function openPlace(options: PlaceOptions): Promise<CellFolders> {
  const own = join(options.dataFolder, 'cells')
  // Others may pass, so that a uid of a cell can reach its folder where there are no mounts.
  mkdirSync(own, { recursive: true, mode: 0o711 })
  const lock = await lockFile(join(own, 'lock')).catch((cause: unknown) => {
    if (!(cause instanceof ErgonError && cause.code === 'locked')) throw cause
    const message = `Another Ergon runs on the data folder ${options.dataFolder}: stop it, or give this one another folder (--data)`
    throw baseFault('locked', message, { cause })
  })
  try {
    return await takePlace(options, own, lock.release)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function takePlace(
  options: PlaceOptions,
  own: string,
  unlock: () => Promise<void>,
): Promise<CellFolders> {
  const { clock, log, runFolder } = options
  const name = createHash('sha256').update(realpathSync(own)).digest('hex').slice(0, 12)
  const group = `ergon-${name}`
  const probed = probe({ ...options, group })
  const groups = groupFolders(probed.cgroups, group)
  const uids = probed.isolation.uids ? await claim(options, own) : undefined

  const isOurs = (uid: number) => uids !== undefined && isWithin(uid, uids.range)
  const left = await sweepGroups(Object.values(groups), clock)
  left.push(...(await sweepRecords(join(own, 'lives'), isOurs, clock)))
  if (left.length > 0) log.warn('Processes of an earlier life were ended', { left })
  makeRunFolder(runFolder, uids !== undefined)
  if (probed.isolation.level === 'plain' && uids !== undefined) letOthersPass(options.dataFolder)
  enableLimits(groups.unified, probed.isolation)
  if (groups.cpu !== undefined) giveShares(groups.cpu)
  // A pid namespace holds a tree together; without one only a uid of its own does.
  const treesByUid = uids !== undefined && probed.isolation.level === 'plain'
  let ending: { close(): void } | undefined
  return {
    ...options,
    ...probed,
    groups,
    uids,
    look: createSharedLook(clock, treesByUid),
    treesByUid,
    records: createLifeRecords(join(own, 'lives')),
    endWithAgent: () => void (ending ??= watchEnd(groups, { sh: probed.tools.sh, log })),
    close: async () => {
      ending?.close()
      await sweepGroups(Object.values(groups), clock)
      await using ends = new AsyncDisposableStack()
      ends.defer(unlock)
      ends.defer(async () => await uids?.release())
      removeRunFolder(runFolder)
    },
  }
}

/** A folder that others may pass but not list, whatever the umask is. */
export function makeOpenFolder(path: string): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o711)
}

const watchEnd = ({ unified }: Groups, deps: Parameters<typeof endWithAgent>[1]) =>
  unified === undefined ? undefined : endWithAgent(unified, deps)

const claim = ({ uidClaims, uidRange }: PlaceOptions, own: string) =>
  claimUids({
    claimsFolder: uidClaims ?? UID_CLAIMS,
    recordPath: join(own, 'uids.json'),
    ...(uidRange === undefined ? {} : { range: uidRange }),
  })

const isWithin = (id: number, { first, count }: IdRange) => id >= first && id < first + count

function letOthersPass(folder: string): void {
  for (const path of [folder, join(folder, 'cells')])
    chmodSync(path, (statSync(path).mode & 0o7777) | 0o001)
}

function groupFolders(cgroups: Probe['cgroups'], name: string): Groups {
  const entries = Object.entries(cgroups).filter(([, folder]) => folder !== undefined)
  return Object.fromEntries(entries.map(([kind, folder]) => [kind, join(folder ?? '', name)]))
}

/** Version 1 counts a group like one process among those of the machine, whatever the agent's priority is. */
function giveShares(folder: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'cpu.shares'), String(ownShares()))
}

/** The shares that a process of the agent's priority has on each processor. */
const ownShares = (): number =>
  Math.max(CPU_SHARES_MIN, Math.round(availableParallelism() * CPU_SHARES * NICE ** -getPriority()))

/** Version 2 hands a controller on level by level: the group of each cell gets it from this one. */
function enableLimits(unified: string | undefined, isolation: Isolation): void {
  if (unified === undefined) return
  mkdirSync(unified, { recursive: true })
  const control = join(unified, 'cgroup.subtree_control')
  if (isolation.memoryLimit === 'cgroup-v2') writeFileSync(control, '+memory')
  if (isolation.processLimit === 'cgroup-v2') writeFileSync(control, '+pids')
  if (isolation.cpuLimit === 'cgroup-v2') writeFileSync(control, '+cpu')
}
