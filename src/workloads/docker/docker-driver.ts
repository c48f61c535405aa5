// Workloads as containers of Docker or Podman, which share this machine with the agent.
import type { WorkloadDriver } from '#workloads/driver.ts'
import { startInstance, type InstanceDeps, type InstanceKind } from '#workloads/instance-cell.ts'
import type { NodeImages } from '#workloads/node-images.ts'
import { argvOf } from '#workloads/program.ts'
import { createContainer } from './container.ts'
import type { OpenEngine } from './open-engine.ts'
import type { NodeVolumes } from '#workloads/volumes/node-volumes.ts'
import { assertVolumePaths } from '#workloads/volumes/volume-paths.ts'
import { createEngineImages } from './images.ts'

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
  return {
    pull: nodeImages.pull,
    has: nodeImages.has,
    bytesOf: nodeImages.bytesOf,
    async prune(wanted) {
      let keep: ReadonlySet<string> = new Set()
      await nodeImages.prune(async () => (keep = await wanted()))
      await images.prune(keep)
    },
    volumes,
    async start(spec, events) {
      const mounted = await volumes.open(spec)
      assertVolumePaths(mounted, rootOf(spec))
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
