// Workloads as containers of Docker or Podman, which share this machine with the agent.
import { ErgonError } from '#base/errors.ts'
import { imageBeyondQuota } from '#images/quota-fault.ts'
import type { WorkloadDriver } from '#workloads/driver.ts'
import { startInstance, type InstanceDeps, type InstanceKind } from '#workloads/instance-cell.ts'
import type { NodeImages } from '#workloads/node-images.ts'
import { argvOf } from '#workloads/program.ts'
import { createContainer } from './container.ts'
import type { OpenEngine } from './open-engine.ts'
import type { NodeVolumes } from '#workloads/volumes/node-volumes.ts'
import { assertVolumePaths } from '#workloads/volumes/volume-paths.ts'
import { createEngineImages } from './images.ts'

/** The engine has all files of an image once more. */
const COPIES = 2

export function createDockerDriver(
  deps: InstanceDeps & {
    readonly opened: OpenEngine
    readonly images: NodeImages
    readonly volumes: NodeVolumes
    /** Marks what is this installation's in the engine. */
    readonly installation: string
  },
): WorkloadDriver {
  const { opened, images: nodeImages, volumes, installation } = deps
  const { engine } = opened
  const images = createEngineImages(engine, installation)
  const { rootOf } = nodeImages
  const assertFit: WorkloadDriver['assertFit'] = (spec) => {
    argvOf(spec)
    assertVolumePaths(spec.volumes, rootOf(spec))
  }
  return {
    async pull(wanted, ...more) {
      const roomBytes = Math.floor(wanted.roomBytes / COPIES)
      const image = await nodeImages.pull({ ...wanted, roomBytes }, ...more).catch((error) => {
        throw isBeyondQuota(error)
          ? imageBeyondQuota(wanted.image, { roomBytes: wanted.roomBytes, copies: COPIES })
          : error
      })
      return { ...image, bytes: image.bytes * COPIES, copies: COPIES }
    },
    has: nodeImages.has,
    bytesOf: async (...asked) => (await nodeImages.bytesOf(...asked)) * COPIES,
    async prune(wanted) {
      let keep: ReadonlySet<string> = new Set()
      await nodeImages.prune(async () => (keep = await wanted()))
      await images.prune(keep)
    },
    volumes,
    assertFit,
    async start(spec, events, wait) {
      assertFit(spec)
      const mounted = await volumes.open(spec, wait)
      const kind: InstanceKind = (outlet) => ({
        argv: argvOf(spec),
        environment: {},
        container: createContainer(spec, {
          ...opened,
          images,
          installation,
          rootOf,
          outlet,
          volumes: mounted,
        }),
      })
      return await startInstance(spec, kind, events, deps)
    },
  }
}

const isBeyondQuota = (error: unknown): boolean =>
  error instanceof ErgonError && error.code === 'image_quota_exceeded'
