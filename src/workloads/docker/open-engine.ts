// The engine of an installation: its needs are checked before anything runs on it, and the rests of an earlier life of
// the agent are removed.
import { existsSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import type { Isolation } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { confinementBy, type Confinement } from './confinement.ts'
import { createEngine, type ContainerEngine } from './engine.ts'
import { ofInstallation } from './labels.ts'
import { removeLeftVolumes } from './volumes.ts'

export type OpenEngine = { readonly engine: ContainerEngine; readonly confinement: Confinement }

type EngineVersion = { readonly Components?: readonly { readonly Name: string }[] | null }
type EngineInfo = {
  readonly OSType?: string
  readonly CgroupDriver?: string
  readonly SecurityOptions?: readonly string[] | null
}

/** Throws settings_invalid, with the setting to change. */
export async function openEngine(
  socketPath: string,
  {
    isolation,
    installation,
    profilePath,
  }: {
    readonly isolation: Isolation
    readonly installation: string
    /** The path of a file for the engine's filter of system calls. */
    readonly profilePath: string
  },
): Promise<OpenEngine> {
  const engine = createEngine(socketPath)
  if (isolation.level !== 'root' || isolation.meter !== 'cgroup-v2')
    throw unusable(
      socketPath,
      'the agent must be root, on a machine with control groups of version 2',
    )
  if (!existsSync(socketPath))
    throw unusable(socketPath, 'there is no such socket; start Docker, or `podman system service`')
  const info = await engine.ask<EngineInfo>('GET', '/info').catch((error: unknown) => {
    throw unusable(socketPath, messageOf(error))
  })
  const wrong = whyNot(info)
  if (wrong !== undefined) throw unusable(socketPath, wrong)
  await removeLeft(engine, installation)
  const { Components } = await engine.ask<EngineVersion>('GET', '/version')
  const isPodman = (Components ?? []).some(({ Name }) => Name === 'Podman Engine')
  return { engine, confinement: confinementBy(isPodman ? 'podman' : 'docker', profilePath) }
}

function whyNot({
  OSType = 'linux',
  CgroupDriver,
  SecurityOptions,
}: EngineInfo): string | undefined {
  const options = (SecurityOptions ?? []).join(' ')
  if (OSType !== 'linux') return `it runs containers of ${OSType}`
  if (CgroupDriver !== 'cgroupfs')
    return `it has its groups made by ${CgroupDriver}, which takes the CPU of a container away with it; let it use cgroupfs (Docker: native.cgroupdriver=cgroupfs; Podman: cgroup_manager = "cgroupfs")`
  if (options.includes('name=rootless')) return 'it is rootless: its containers cannot be counted'
  if (!options.includes('name=seccomp')) return 'it does not filter system calls'
  return undefined
}

type LeftContainer = { readonly Id: string }

/** Containers end with their agent; their names stay in the engine. */
async function removeLeft(engine: ContainerEngine, installation: string): Promise<void> {
  const ours = ofInstallation(installation)
  const containers = await engine.ask<readonly LeftContainer[]>(
    'GET',
    `/containers/json?all=1&${ours}`,
  )
  for (const { Id } of containers) await engine.ask('DELETE', `/containers/${Id}?force=1&v=1`)
  await removeLeftVolumes(engine, ours)
}

const unusable = (socketPath: string, why: string) =>
  fault(
    'settings_invalid',
    `Could not use the engine at ${socketPath} (ERGON_WORKLOAD_ENGINE): ${why}`,
  )
