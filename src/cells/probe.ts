// Finds out whether this machine can isolate, give uids, meter and limit, by trying each once: the same
// programs with the same flags as for a real cell, and no guesses from names of files.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { baseFault } from '#base/own-errors.ts'

import { messageOf } from '#base/errors.ts'

import type { Isolation } from './cell.ts'
import { type CgroupMounts, findCgroups } from './cgroup.ts'
import { filteredBy } from './syscalls/filter.ts'
import { OWN_ARCHITECTURE } from './syscalls/numbers.ts'
import { namespaces, TOOL_NAMES, type Tools } from './launch.ts'
import { enterCommand } from './root/command.ts'

export type IsolationLevel = Isolation['level']
export type Probe = {
  readonly isolation: Isolation
  readonly tools: Tools
  /** The command before a program that may make only the calls of tenants; empty where it does not work. */
  readonly filter: readonly string[]
  /** The folders below which the groups of cells are made. */
  readonly cgroups: CgroupMounts
}

const PLACES = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
const PROBE_TIMEOUT_MS = 10_000
const NAMESPACES = ['--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']

/**
 * Chooses the isolation level and the meter. `level` forces one (it throws when that does not work);
 * `meter: 'process-tree'` leaves cgroups alone. `group` is the name for a trial group.
 */
export function probe(wanted: {
  readonly group: string
  readonly level?: IsolationLevel | undefined
  readonly meter?: Isolation['meter'] | undefined
  readonly tools?: Partial<Tools> | undefined
}): Probe {
  const tools = findTools(wanted.tools ?? {})
  const reasons: string[] = []
  const level = chooseLevel(tools, wanted.level, reasons)
  const uids = isRoot() && runs([tools.setpriv, '--reuid=65534', '--regid=65534', '--clear-groups'])
  const cgroups = chooseCgroups(wanted, reasons)
  const metered = cgroups.unified !== undefined
  const controllers = cgroups.unified === undefined ? [] : enableControllers(cgroups.unified)
  const limit = (name: 'memory' | 'pids' | 'cpu') => {
    if (controllers.includes(name)) return 'cgroup-v2'
    return cgroups[name] === undefined ? 'none' : 'cgroup-v1'
  }
  const memoryLimit = limit('memory')
  const processLimit = limit('pids')
  const cpuLimit = limit('cpu')
  const perl = findFile('perl')
  const filter = chooseFilter(tools, perl, reasons)
  // Only a control group sees a process that nobody waits for.
  const canAdmit = metered && filter.length > 0
  const admitsTenants = canAdmit && tryRoot(tools, perl ?? '', { level, uids }, reasons)
  if (memoryLimit === 'none') reasons.push('memory is not limited: no memory controller is ours')
  if (cpuLimit === 'none') reasons.push('processors are not limited: no cpu controller is ours')
  return {
    isolation: {
      level,
      uids,
      meter: metered ? 'cgroup-v2' : 'process-tree',
      memoryLimit,
      processLimit: processLimit === 'none' && uids ? 'rlimit' : processLimit,
      cpuLimit,
      filtersSyscalls: filter.length > 0,
      admitsTenants,
      reasons,
    },
    tools,
    filter,
    cgroups: {
      unified: cgroups.unified,
      memory: memoryLimit === 'cgroup-v1' ? cgroups.memory : undefined,
      pids: processLimit === 'cgroup-v1' ? cgroups.pids : undefined,
      cpu: cpuLimit === 'cgroup-v1' ? cgroups.cpu : undefined,
    },
  }
}

const isRoot = () => process.geteuid?.() === 0

const findFile = (name: string): string | undefined =>
  PLACES.map((place) => join(place, name)).find((file) => existsSync(file))

function findTools(given: Partial<Tools>): Tools {
  const found = TOOL_NAMES.map((name) => {
    const path = given[name] ?? findFile(name)
    if (path === undefined)
      throw baseFault(
        'internal',
        `Cannot start cells without util-linux and coreutils: ${name} is missing`,
      )
    return [name, path] as const
  })
  return Object.fromEntries(found) as Tools
}

function chooseLevel(
  tools: Tools,
  wanted: IsolationLevel | undefined,
  reasons: string[],
): IsolationLevel {
  const user = ['--user', '--map-root-user']
  const trial = [tools.sh, '-c', 'mount -n -t tmpfs cell /dev/shm']
  const works: Record<IsolationLevel, () => boolean> = {
    root: () => isRoot() && runs([tools.unshare, ...NAMESPACES, '--', ...trial]),
    userns: () => !isRoot() && runs([tools.unshare, ...user, ...NAMESPACES, '--', ...trial]),
    plain: () => true,
  }
  if (wanted !== undefined) {
    if (works[wanted]()) return wanted
    throw baseFault('internal', `Cannot isolate cells as: ${wanted}`)
  }
  for (const level of ['root', 'userns'] as const) if (works[level]()) return level
  reasons.push(
    isRoot()
      ? 'plain: this root may not make namespaces (a container without CAP_SYS_ADMIN)'
      : 'plain: not root, and user namespaces are forbidden here',
  )
  return 'plain'
}

/** Tries the filter on a program, and on a call that it must refuse. */
function chooseFilter(
  { setpriv, unshare }: Tools,
  perl: string | undefined,
  reasons: string[],
): readonly string[] {
  const command = perl === undefined ? [] : filteredBy(perl, OWN_ARCHITECTURE)
  const ran = (...program: readonly string[]) =>
    runs([setpriv, '--no-new-privs', '--', ...command, ...program])
  if (perl !== undefined && ran('true') && !ran(unshare, '--user', 'true')) return command
  const why = perl === undefined ? 'perl is missing' : 'the kernel has no filters'
  reasons.push(`system calls of tenants are not filtered: ${why}`)
  return []
}

/** Starts a program as the code of a tenant is started. */
function tryRoot(
  { sh, unshare, env }: Tools,
  perl: string,
  { level, uids }: Pick<Isolation, 'level' | 'uids'>,
  reasons: string[],
): boolean {
  if (level === 'plain' || (level === 'root' && !uids)) return false
  const identity = level === 'root' ? { uid: 65534, gid: 65534, groups: [] } : undefined
  const enter = enterCommand({ perl, root: {}, name: 'probe', identity, stage: '/tmp', reads: [] })
  const command = [unshare, ...namespaces({ root: {} }, level), '--', ...enter, env]
  const { status, stderr } = spawnSync(sh, ['-c', 'exec 3<&0; exec "$@"', 'probe', ...command], {
    input: '\n',
    timeout: PROBE_TIMEOUT_MS,
    encoding: 'utf8',
    env: {},
  })
  if (status !== 0)
    reasons.push(`no code of tenants: ${stderr.trim() || `it ended with ${status}`}`)
  return status === 0
}

function runs([file = '', ...args]: readonly string[]): boolean {
  const command = args.includes('--') ? args : [...args, 'true']
  return spawnSync(file, command, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0
}

function chooseCgroups(
  wanted: { readonly group: string; readonly meter?: Isolation['meter'] | undefined },
  reasons: string[],
): CgroupMounts {
  const none = { unified: undefined, memory: undefined, pids: undefined, cpu: undefined }
  if (wanted.meter === 'process-tree') {
    reasons.push('process-tree: asked for')
    return none
  }
  const found = findCgroups()
  if (found.unified === undefined) {
    reasons.push('process-tree: no cgroup v2 is mounted')
    return none
  }
  const trouble = tryGroup(join(found.unified, `${wanted.group}-probe`))
  if (trouble !== undefined) {
    reasons.push(`process-tree: cgroup v2 is not ours (${trouble})`)
    return none
  }
  return {
    unified: found.unified,
    memory: writable(found.memory),
    pids: writable(found.pids),
    cpu: writable(found.cpu),
  }
}

/** Makes a group, joins it with a process, reads it; the trouble in words, or undefined. */
function tryGroup(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true })
    try {
      const join = spawnSync('/bin/sh', ['-c', 'echo $$ > "$1"', 'join', `${folder}/cgroup.procs`])
      if (join.status !== 0) return 'a process cannot join a group'
      if (!existsSync(`${folder}/cgroup.kill`)) return 'the kernel is older than 5.14'
      return readFileSync(`${folder}/cpu.stat`, 'utf8').startsWith('usage_usec')
        ? undefined
        : 'cpu.stat has no usage'
    } finally {
      rmdirSync(folder)
    }
  } catch (error) {
    return messageOf(error)
  }
}

function writable(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined
  try {
    accessSync(folder, constants.W_OK)
    return folder
  } catch {
    // Not ours to limit with; the answer says "none".
    return undefined
  }
}

/**
 * The limiting controllers that groups below this one can have. Version 2 refuses them (EBUSY) while
 * processes live in the group itself, ours included: then there are no limits, only the meter.
 */
function enableControllers(folder: string): string[] {
  const offered = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').trim().split(' ')
  return ['memory', 'pids', 'cpu'].filter((name) => {
    if (!offered.includes(name)) return false
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${name}`)
      return true
    } catch {
      return false
    }
  })
}
