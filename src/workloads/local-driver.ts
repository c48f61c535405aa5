// Workloads as cells of this machine: the root folder of an image, read-only, with a uid, namespaces and limits of its own,
// and a network that only the ingress reaches.
import type { WorkloadDriver } from './driver.ts'
import { startInstance, type InstanceDeps, type InstanceKind } from './instance-cell.ts'
import type { NodeImages } from './node-images.ts'
import { argvOf, variablesOf } from './program.ts'
import type { NodeVolumes } from './volumes/node-volumes.ts'
import { assertVolumePaths } from './volumes/volume-paths.ts'

export function createCellDriver(
  deps: InstanceDeps & { readonly images: NodeImages; readonly volumes: NodeVolumes },
): WorkloadDriver {
  const { images, volumes } = deps
  const assertFit: WorkloadDriver['assertFit'] = (spec) => {
    argvOf(spec)
    assertVolumePaths(spec.volumes, images.rootOf(spec))
  }
  return {
    pull: images.pull,
    has: images.has,
    bytesOf: images.bytesOf,
    prune: images.prune,
    volumes,
    assertFit,
    async start(spec, events, wait) {
      const { config, name, port } = spec
      assertFit(spec)
      const mounted = await volumes.open(spec, wait)
      const kind: InstanceKind = (outlet) => ({
        argv: argvOf(spec),
        environment: variablesOf(spec),
        root: {
          image: images.rootOf(spec),
          workingFolder: config.folder,
          hostname: name,
          port,
          outlet,
          volumes: mounted,
        },
      })
      return await startInstance(spec, kind, events, deps)
    },
  }
}
