// A container as a cell: a control group of this folder counts, freezes and kills it, a relay leads its socket into the network
// of the container, and it ends with the agent. Its program and files are those of the engine that starts it.
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { baseFault } from '#base/own-errors.ts'
import type { CellContainer, CellSpec, StartedLife } from './cell.ts'
import { createCgroup, type Cgroup } from './cgroup.ts'
import { startProcess, type CellUser, type LaunchPlan } from './launch.ts'
import type { CellFolders } from './place.ts'
import {
  checkSocketPath,
  makeRunFolders,
  relayOf,
  withIdentity,
  type CellIdentity,
  type PreparedCell,
} from './prepare.ts'
import { isAlive, readProcess } from './process-table.ts'
import { relayCommand } from './root/command.ts'
import { treeOfCgroup } from './stop.ts'

/** The group of the relay, below that of the container: where groups limit, one with others below has no processes. */
const RELAY = 'relay'

type ContainerSpec = CellSpec & { readonly container: CellContainer }

/** Throws where the machine cannot isolate as root, with control groups of version 2. */
export const prepareContainer = (spec: ContainerSpec, place: CellFolders): Promise<PreparedCell> =>
  withIdentity(spec, place, async (identity) => prepareAs(identity, spec, place))

function prepareAs(
  identity: CellIdentity | undefined,
  spec: ContainerSpec,
  place: CellFolders,
): PreparedCell {
  const { container, name } = spec
  const { clock, log, groups } = place
  const { cpuMilli } = spec.limits
  if (groups.unified === undefined || identity === undefined)
    throw baseFault('internal', `This machine cannot isolate and count a container: ${name}`)
  const socket = join(place.runFolder, spec.socketGroup, name, spec.socket)
  checkSocketPath(socket)
  makeRunFolders(spec, dirname(socket), place, identity)
  place.endWithAgent()
  const folder = join(groups.unified, name)
  const group = createCgroup(
    { unified: folder, engineCpu: () => container.cpuGroups(folder) },
    cpuMilli === undefined ? {} : { cpuMilli },
    clock,
  )
  const { uid } = identity.process
  const relay = (pid: number) =>
    startRelay(spec, place, { pid, socket, group: folder, identity: identity.process })
  return {
    socket,
    hasInit: false,
    launch() {
      rmSync(socket, { force: true })
      const life: StartedLife = container.begin({
        group: folder,
        uid,
        began(pid) {
          assertInGroup(pid, group, name)
          group.limitStarted()
          endWithRelay(life, relay(pid), group)
        },
      })
      return life
    },
    observe: () => {
      const { cpuNs, memoryKills } = group
      return { tree: treeOfCgroup(group, clock), cpuNs, memoryKills, endLife: () => undefined }
    },
    records: { write: () => undefined, remove: () => undefined },
    async cleanUp() {
      // Its processes are gone. An engine that is away says later what it still lists.
      await container.remove(folder).catch((error: unknown) => {
        log.warn('A container is not removed', { cell: name, error: messageOf(error) })
      })
      await group.remove()
      rmSync(dirname(socket), { recursive: true, force: true })
    },
    relay: relayOf(spec, log),
    clock,
    log,
  }
}

function endWithRelay(
  life: StartedLife,
  relay: ReturnType<typeof startRelay>,
  group: Cgroup,
): void {
  let hasEnded = false
  void life.exit.then(() => (hasEnded = true))
  relay.once('exit', () => {
    if (hasEnded) return
    life.kill()
    // The engine only waits for its end.
    group.kill()
  })
}

/** Anywhere else it would run unmetered. */
function assertInGroup(pid: number, group: Cgroup, name: string): void {
  if (group.pids().includes(pid)) return
  // A program that has ended is in no group, also while its engine has not yet waited for it.
  const found = readProcess(pid)
  if (found !== undefined && isAlive(found))
    throw baseFault(
      'internal',
      `The engine has not put the container into its control group: ${name}`,
    )
}

function startRelay(
  spec: ContainerSpec,
  place: CellFolders,
  given: {
    readonly pid: number
    readonly socket: string
    readonly group: string
    readonly identity: CellUser
  },
) {
  const [perl = ''] = place.filter
  const own = join(given.group, RELAY)
  mkdirSync(own, { recursive: true })
  const plan: LaunchPlan = {
    level: place.isolation.level,
    tools: place.tools,
    identity: undefined,
    joins: [join(own, 'cgroup.procs')],
    filter: place.filter,
    view: [],
    enter: relayCommand({
      perl,
      process: `/proc/${given.pid}`,
      port: spec.container.port,
      outlet: spec.container.outlet,
      socket: given.socket,
      identity: given.identity,
    }),
    rlimitProcesses: false,
    agent: { uid: 0, gid: 0 },
  }
  const { child, stdout, stderr } = startProcess(spec, plan)
  stdout.resume()
  stderr.on('data', (text: Buffer) =>
    place.log.warn('A relay says', { cell: spec.name, text: String(text).slice(0, 500) }),
  )
  return child
}
