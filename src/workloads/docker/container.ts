// A container as the lives of a cell: made, started, read and removed by the engine for each of them.
import { PassThrough } from 'node:stream'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type {
  CellContainer,
  CellOutlet,
  CellVolume,
  ContainerPlace,
  StartedLife,
} from '#cells/cell.ts'
import { decodedExit } from '#cells/exit.ts'
import { workloadCellOf } from '#workloads/cell-name.ts'
import type { WorkloadSpec } from '#workloads/driver.ts'
import type { NodeImages } from '#workloads/node-images.ts'
import type { Confinement } from './confinement.ts'
import { containerBody } from './container-body.ts'
import { EngineFault, type ContainerEngine } from './engine.ts'
import { readFrames } from './frames.ts'
import { cpuGroupsBelow, groupPathOf, peakBytes, removeOtherGroups } from './group.ts'
import type { EngineImages } from './images.ts'
import { labelsOf } from './labels.ts'
import { engineVolumes } from './volumes.ts'

export type ContainerDeps = {
  readonly engine: ContainerEngine
  readonly confinement: Confinement
  readonly images: EngineImages
  readonly installation: string
  readonly rootOf: NodeImages['rootOf']
  readonly outlet: CellOutlet
  readonly volumes: readonly CellVolume[]
}

type LifeExit = Awaited<StartedLife['exit']>
type Inspected = {
  readonly State: {
    readonly Status: string
    readonly Pid: number
    readonly ExitCode: number
    readonly OOMKilled: boolean
  }
}

/** As shells say of a program that cannot be started, and of a tool that has failed. */
const NOT_STARTED = 127
const ENGINE_FAILED = 125
const KILLED = 137
/** The rest of its output, behind its end. */
const OUTPUT_MS = 2000
const ABSENT = 404

export function createContainer(spec: WorkloadSpec, deps: ContainerDeps): CellContainer {
  const { engine, confinement, installation, outlet } = deps
  const name = `ergon-${installation}-${workloadCellOf(spec)}`
  const labels = labelsOf(installation, spec)
  const volumes = engineVolumes(engine, name, { volumes: deps.volumes, labels })
  const removeAll = async () => {
    await removeContainer(engine, name)
    await volumes.remove()
  }
  return {
    port: spec.port,
    outlet,
    begin(place) {
      const prepare = async (held: DisposableStack) => {
        await removeAll()
        const image = await deps.images.give(spec, deps.rootOf(spec))
        const group = groupPathOf(place.group)
        const body = containerBody(spec, {
          image,
          group,
          uid: place.uid,
          labels,
          hosts: outlet.hosts,
          confinement,
          mounts: await volumes.make(place.uid, held),
        })
        await engine.ask('POST', `/containers/create?name=${name}`, { body })
      }
      const { memoryBytes } = spec
      const settle = () => volumes.settle(place.uid)
      return beginLife({ engine, name, prepare, settle, remove: removeAll, place, memoryBytes })
    },
    cpuGroups: cpuGroupsBelow,
    async remove(group) {
      await removeAll()
      removeOtherGroups(group)
    },
  }
}

type LifeDeps = {
  readonly engine: ContainerEngine
  readonly name: string
  /** The stack ends with the life. */
  readonly prepare: (held: DisposableStack) => Promise<void>
  /** The last step before its program begins; the engine has mounted its volumes. */
  readonly settle: () => Promise<void>
  readonly remove: () => Promise<void>
  readonly place: ContainerPlace
  readonly memoryBytes: number
}

function beginLife(deps: LifeDeps): StartedLife {
  const output = { stdout: new PassThrough(), stderr: new PassThrough() }
  const killed = new AbortController()
  let pid: number | undefined
  const began = (of: number) => {
    deps.place.began(of)
    pid = of
  }
  const exit = live(deps, { output, killed: killed.signal, began })
    .catch((error: unknown): LifeExit => {
      output.stderr.write(`ergon: no container: ${causeIn(messageOf(error))}\n`)
      const isRefused = error instanceof EngineFault && error.status > 0
      return { code: isRefused ? NOT_STARTED : ENGINE_FAILED, signal: null }
    })
    .finally(() => {
      output.stdout.end()
      output.stderr.end()
    })
  return {
    get pid() {
      return pid
    },
    ...output,
    exit,
    kill: () => killed.abort(),
  }
}

const CAUSE_CHARACTERS = 170

/** Engines name the cause last, behind each of their programs; a failed version shows 200 characters of a line. */
function causeIn(message: string): string {
  const cause = message.replace(/^.*unable to start container process: /s, '')
  return cause.length > CAUSE_CHARACTERS ? `…${cause.slice(-CAUSE_CHARACTERS)}` : cause
}

async function live(
  { engine, name, prepare, settle, remove, place, memoryBytes }: LifeDeps,
  given: {
    readonly output: { readonly stdout: PassThrough; readonly stderr: PassThrough }
    readonly killed: AbortSignal
    readonly began: (pid: number) => void
  },
): Promise<LifeExit> {
  const ending = new AbortController()
  const held = new DisposableStack()
  try {
    await prepare(held)
    given.killed.throwIfAborted()
    const reading = readFrames(await engine.attach(name, ending.signal), given.output).catch(
      () => undefined,
    )
    await settle()
    await startContainer(engine, name)
    // A kill of the group has not seen the container that was started since.
    given.killed.throwIfAborted()
    const { State: started } = await engine.ask<Inspected>('GET', `/containers/${name}/json`)
    if (started.Pid > 0) given.began(started.Pid)
    await engine.ask('POST', `/containers/${name}/wait`, { signal: ending.signal })
    await Promise.race([reading, sleep(OUTPUT_MS, ending.signal).catch(() => undefined)])
    const { State } = await engine.ask<Inspected>('GET', `/containers/${name}/json`)
    return exitOf(State, !given.killed.aborted && isFull(place.group, memoryBytes))
  } finally {
    ending.abort()
    // The next life removes it again.
    await remove().catch(() => undefined)
    held.dispose()
  }
}

/**
 * A program that ends at once can be gone before Podman has looked at it ("read /proc/…/cgroup: no such process"). The start
 * is refused then, though the program ran and has an exit.
 */
async function startContainer(engine: ContainerEngine, name: string): Promise<void> {
  try {
    await engine.ask('POST', `/containers/${name}/start`)
  } catch (error) {
    await sleep(GONE_MS)
    const { State } = await engine.ask<Inspected>('GET', `/containers/${name}/json`)
    if (State.Status !== 'exited') throw error
  }
}

/** Podman does not say that the memory ran out; the most that was used does. */
function exitOf({ ExitCode: code, OOMKilled }: Inspected['State'], isFullOnce: boolean): LifeExit {
  const outOfMemory = code === KILLED && (OOMKilled || isFullOnce)
  return { ...decodedExit(code), ...(outOfMemory && { outOfMemory }) }
}

/** For the engine to note the exit. */
const GONE_MS = 200
const FULL = 0.9
const isFull = (group: string, memoryBytes: number): boolean =>
  peakBytes(group) >= FULL * memoryBytes

async function removeContainer(engine: ContainerEngine, name: string): Promise<void> {
  await engine.ask('DELETE', `/containers/${name}?force=1&v=1`).catch((error: unknown) => {
    if (!(error instanceof EngineFault && error.status === ABSENT)) throw error
  })
}
