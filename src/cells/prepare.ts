// Turns a spec into the needs of its lives: numbers, folders, groups, the view of the file system.
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { baseFault } from '#base/own-errors.ts'

import type { Logger } from '#base/log.ts'

import type { CellSpec, OutputLine } from './cell.ts'
import { createCgroup, type Cgroup } from './cgroup.ts'
import { nameCompiledFor } from './compiled.ts'
import { createTreeMeter } from './cpu.ts'
import { lifeOf } from './exit.ts'
import { checkCommandSize, type CellUser, type LaunchPlan, startProcess } from './launch.ts'
import { isLogLine } from './output.ts'
import { makeOpenFolder, type Groups, type CellFolders } from './place.ts'
import { enterCommand } from './root/command.ts'
import { isOfPrograms } from './root/plan.ts'
import { treeOfCgroup, treeOfLineage } from './stop.ts'
import type { Observed, SupervisorDeps } from './supervise.ts'
import { firstBlocked, planView, type VisibleFolder } from './view.ts'

/** sun_path holds 108 bytes, the last one a NUL. unix(7). */
const SOCKET_PATH_BYTES_MAX = 107
/** Others may pass; the mode of each file decides who may read it. */
const OPEN = 0o001
const run = promisify(execFile)

/** A cell that can be supervised, once somebody hears of its changes. */
export type PreparedCell = Omit<SupervisorDeps, 'changed'>

/** Makes the folders and groups of a cell. Throws for a spec that this machine cannot start. */
export const prepareCell = (spec: CellSpec, place: CellFolders): Promise<PreparedCell> =>
  withIdentity(spec, place, (identity) => prepareAs(identity, spec, place))

/** Keeps the user of a cell from its preparation until nothing is left of it. */
export async function withIdentity(
  spec: CellSpec,
  place: CellFolders,
  prepare: (identity: CellIdentity | undefined) => Promise<PreparedCell>,
): Promise<PreparedCell> {
  const user = userOf(spec)
  const identity = await identify(spec, place)
  try {
    const prepared = await prepare(identity)
    const cleanUp = async () => {
      await prepared.cleanUp()
      place.uids?.rest(user)
    }
    return { ...prepared, cleanUp }
  } catch (error) {
    place.uids?.rest(user)
    throw error
  }
}

async function prepareAs(
  identity: CellIdentity | undefined,
  spec: CellSpec,
  place: CellFolders,
): Promise<PreparedCell> {
  const folder = join(place.runFolder, spec.socketGroup, spec.name)
  const socket = join(folder, spec.socket)
  checkSocketPath(socket)
  // First: a spec that is refused leaves no folder and no group.
  const enter = enterOf(spec, socket, place, identity)
  makeRunFolders(spec, folder, place, identity)
  for (const path of spec.writes) await giveFolder(path, identity)
  if (spec.compiled !== undefined)
    nameCompiledFor(spec.compiled, identity?.process.uid ?? process.geteuid?.() ?? 0)
  const cgroup = cgroupOf(spec, place)
  const plan: LaunchPlan = {
    level: place.isolation.level,
    tools: place.tools,
    identity: identity?.process,
    joins: cgroup?.joins ?? [],
    filter: place.filter,
    view: spec.root === undefined ? viewOf(spec, folder, place) : [],
    enter,
    ...(enter !== undefined && { outputs: folder }),
    rlimitProcesses: place.isolation.processLimit === 'rlimit',
    agent: { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 },
  }
  const hasInit = place.isolation.level !== 'plain'
  return {
    socket,
    hasInit,
    launch() {
      rmSync(socket, { force: true })
      return lifeOf(startProcess(spec, plan), hasInit)
    },
    observe: (leader) =>
      cgroup === undefined
        ? observeLineage(leader, place, identity?.process.uid)
        : observeCgroup(cgroup, place),
    records: {
      write: (pid) => place.records.write(spec.name, pid, identity?.process.uid),
      remove: () => place.records.remove(spec.name),
    },
    cleanUp: async () => {
      await cgroup?.remove()
      rmSync(folder, { recursive: true, force: true })
    },
    relay: relayOf(spec, place.log),
    clock: place.clock,
    log: place.log,
  }
}

function cgroupOf(spec: CellSpec, place: CellFolders): Cgroup | undefined {
  const groups = cellGroups(spec, place)
  const { unified } = groups
  if (unified === undefined) return undefined
  const mayLimitCpu = spec.payer.kind === 'account' || spec.isSpare === true
  return createCgroup({ ...groups, unified }, { ...spec.limits, mayLimitCpu }, place.clock)
}

/** Where there is no cgroup: all processes that descend from the first one, or have the uid of the cell. */
function observeLineage(
  leader: () => number | undefined,
  place: CellFolders,
  ownUid: number | undefined,
): Observed {
  const uid = place.treesByUid ? ownUid : undefined
  const lineage = () => {
    const pid = leader()
    return pid === undefined ? undefined : { leader: pid, uid, known: meter.known }
  }
  const meter = createTreeMeter(lineage, place.look, place.isolation.level !== 'plain')
  const tree = treeOfLineage(lineage, place.clock)
  return { tree, cpuNs: meter.cpuNs, memoryKills: () => 0, endLife: meter.endLife }
}

function observeCgroup(cgroup: Cgroup, place: CellFolders): Observed {
  const tree = treeOfCgroup(cgroup, place.clock)
  const { cpuNs, memoryKills } = cgroup
  return { tree, cpuNs, memoryKills, endLife: () => undefined }
}

export type CellIdentity = { readonly process: CellUser; readonly socketGid: number }

const userOf = ({ user, name }: CellSpec): string => user ?? name

async function identify(spec: CellSpec, { uids }: CellFolders): Promise<CellIdentity | undefined> {
  if (uids === undefined) return undefined
  // The groups first: from the uid on, nothing here fails.
  const groups: number[] = []
  for (const group of spec.calls) groups.push(await uids.gidOf(group))
  const socketGid = await uids.gidOf(spec.socketGroup)
  const uid = await uids.uidOf(userOf(spec), spec.writes.length > 0 ? 'folders' : 'nothing')
  return { process: { uid, gid: uid, groups }, socketGid }
}

export function checkSocketPath(socket: string): void {
  const bytes = Buffer.byteLength(socket)
  if (bytes > SOCKET_PATH_BYTES_MAX)
    throw baseFault(
      'internal',
      `The path of a socket has ${bytes} bytes, and 107 is the most: ${socket}`,
    )
}

/** `<run folder>/<group>/<cell>`: callers of a group see all of it, also cells that start later. */
export function makeRunFolders(
  spec: CellSpec,
  folder: string,
  place: CellFolders,
  identity: CellIdentity | undefined,
): void {
  for (const group of [spec.socketGroup, ...spec.calls])
    makeOpenFolder(join(place.runFolder, group))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  if (identity === undefined) return
  // The socket of a cell with a root folder of its own is made outside of it, and that of a container.
  const isOutside = spec.root !== undefined || spec.container !== undefined
  chownSync(folder, isOutside ? 0 : identity.process.uid, identity.socketGid)
  // Set-group-id: what the cell makes here belongs to the group of its callers, which it is not in.
  chmodSync(folder, 0o2750)
}

async function giveFolder(path: string, identity: CellIdentity | undefined): Promise<void> {
  const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined
  if (identity === undefined) return
  const { uid, gid } = identity.process
  if (statSync(path).uid === uid) return
  // A new folder is empty, and needs no program, whose start takes the agent 5 ms of CPU.
  if (isNew) return lchownSync(path, uid, gid)
  // -h -P: never through a symbolic link, which may be a tenant's.
  await run('chown', ['-RhP', '--', `${uid}:${gid}`, path])
}

function cellGroups(spec: CellSpec, { groups }: CellFolders): Groups {
  const entries = Object.entries(groups).map(([kind, folder]) => [kind, join(folder, spec.name)])
  return Object.fromEntries(entries)
}

/** Where a program is, and where it is meant to be when its path is a link. */
const foldersOf = (program: string) => [dirname(program), dirname(realpathSync(program))]

function viewOf(spec: CellSpec, folder: string, place: CellFolders): string[] {
  const real = (path: string) => [...new Set([path, realpathSync(path)])]
  const show = (kind: VisibleFolder['kind'], paths: readonly string[]): VisibleFolder[] =>
    paths.flatMap(real).map((path) => ({ path, kind }))
  const [program] = spec.argv
  const callees = spec.calls.map((group) => join(place.runFolder, group))
  const compiled = spec.compiled === undefined ? [] : [spec.compiled]
  const shown = [
    ...show('read', [place.appFolder, ...compiled, ...spec.reads, ...callees]),
    ...show('write', [...spec.writes, folder]),
    ...show(
      'need',
      [program, ...Object.values(place.tools), ...place.filter.slice(0, 1)].flatMap(foldersOf),
    ),
  ]
  if (place.isolation.uids) checkReadable(spec.name, shown, place)
  const hide = [place.dataFolder, place.runFolder, homedir(), '/tmp']
    .filter((path) => path !== '/' && existsSync(path))
    .flatMap(real)
  return planView({ show: shown, hide, blockedFor: place.isolation.uids ? 'others' : 'nobody' })
}

/** The command that enters a cell with a root folder of its own. */
function enterOf(
  spec: CellSpec,
  socket: string,
  place: CellFolders,
  identity: CellIdentity | undefined,
): string[] | undefined {
  const { root, name, argv, limits } = spec
  if (root === undefined) return undefined
  const [perl] = place.filter
  if (!place.isolation.admitsTenants || perl === undefined)
    throw baseFault('internal', `This machine cannot isolate the code of tenants: ${name}`)
  if (root.volumes?.length && place.isolation.level !== 'root')
    throw baseFault('internal', `Volumes are mounted by root alone: ${name}`)
  const own = root.image === undefined ? foldersOf(argv[0]) : []
  const isShown = (path: string) => root.image === undefined && isOfPrograms(path)
  const reads = [...new Set([...own, ...spec.reads])].filter((path) => !isShown(path))
  if (identity !== undefined)
    checkReadable(
      name,
      reads.map((path) => ({ path, kind: 'read' })),
      place,
    )
  const enter = enterCommand({
    perl,
    root,
    name,
    socket,
    identity: identity?.process,
    stage: dirname(socket),
    reads,
    files: limits.files,
  })
  checkCommandSize(spec, enter)
  return enter
}

/**
 * Throws when the cell's uid could not use a folder. A mount goes round a closed folder on the way, but
 * not round one that is itself closed; without mounts (plain) the whole way must be open.
 */
function checkReadable(name: string, shown: readonly VisibleFolder[], place: CellFolders): void {
  for (const { path, kind } of shown) {
    const isClosed = kind !== 'write' && (statSync(path).mode & OPEN) === 0
    const closed = isClosed
      ? path
      : place.isolation.level === 'plain'
        ? firstBlocked(path)
        : undefined
    if (closed !== undefined)
      throw baseFault(
        'internal',
        `The cell ${name} has a uid of its own, which may not pass; chmod o+x: ${closed}`,
      )
  }
}

export function relayOf(spec: CellSpec, log: Logger): (line: OutputLine) => void {
  // Only our own programs may write log lines as they like; a tenant could write any.
  const trusted = spec.payer.kind !== 'account'
  return ({ stream, text }) => {
    if (trusted && isLogLine(text)) process.stderr.write(`${text}\n`)
    else log.info('Output of a cell', { cell: spec.name, stream, text })
  }
}
