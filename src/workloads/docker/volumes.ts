// The volumes of a container as its engine knows them: made for a life, and mounted by the engine.
import { chmod, lchown } from 'node:fs/promises'
import type { CellVolume } from '#cells/cell.ts'
import { EngineFault, type ContainerEngine } from './engine.ts'
import { holdDevice } from './loop-device.ts'

export type EngineVolumes = {
  /** Makes volumes of the engine; returns their mounts, for the body of the container. Devices are held until the stack ends. */
  make(uid: number, held: DisposableStack): Promise<readonly object[]>
  /**
   * Podman gives a volume owner and mode of the folder of the image that is at its path, before the program begins: both are set
   * again, to the user and to the mode of before.
   */
  settle(uid: number): Promise<void>
  remove(): Promise<void>
}

const OPTIONS = 'nosuid,nodev,discard'
const ABSENT = 404

export function engineVolumes(
  engine: ContainerEngine,
  container: string,
  given: { readonly volumes: readonly CellVolume[]; readonly labels: object },
): EngineVolumes {
  const all = given.volumes.map((one, nth) => ({ ...one, name: `${container}-${nth + 1}` }))
  const modes = new Map<string, number>()
  return {
    async make(uid, held) {
      const mounts: object[] = []
      for (const { name, path, image } of all) {
        const device = await holdDevice(image, uid)
        held.defer(device.release)
        modes.set(name, device.mode)
        const options = { type: 'ext4', device: device.path, o: OPTIONS }
        const body = { Name: name, Driver: 'local', DriverOpts: options, Labels: given.labels }
        await engine.ask('POST', '/volumes/create', { body })
        const VolumeOptions = { NoCopy: true }
        mounts.push({ Type: 'volume', Source: name, Target: path, VolumeOptions })
      }
      return mounts
    },
    async settle(uid) {
      for (const [name, mode] of modes) {
        const { Mountpoint } = await engine.ask<MadeVolume>('GET', `/volumes/${name}`)
        await lchown(Mountpoint, uid, uid)
        await chmod(Mountpoint, mode)
      }
    },
    async remove() {
      for (const { name } of all) await removeVolume(engine, name)
    },
  }
}

type MadeVolume = { readonly Mountpoint: string }

async function removeVolume(engine: ContainerEngine, name: string): Promise<void> {
  await engine.ask('DELETE', `/volumes/${name}`).catch((error: unknown) => {
    if (!(error instanceof EngineFault && error.status === ABSENT)) throw error
  })
}

type LeftVolumes = { readonly Volumes?: readonly { readonly Name: string }[] | null }

/** Those of an installation whose agent was killed. */
export async function removeLeftVolumes(engine: ContainerEngine, query: string): Promise<void> {
  const { Volumes } = await engine.ask<LeftVolumes>('GET', `/volumes?${query}`)
  for (const { Name } of Volumes ?? []) await removeVolume(engine, Name)
}
