// The images of this node: unpacked root folders, which one kind of process alone writes.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pruneImages } from '#images/prune.ts'
import type { PulledImageName, WorkloadDriver } from './driver.ts'
import { imageRootOf } from './image-place.ts'
import { pullImage, type NodePulls } from './pull-image.ts'

export type NodeImages = Pick<WorkloadDriver, 'pull' | 'has' | 'keepImages' | 'prune'> & {
  /** The unpacked root folder. */
  readonly rootOf: (image: PulledImageName) => string
}

export function createNodeImages(deps: NodePulls): NodeImages {
  const { folder } = deps
  let keepers = 0
  let pruning: Promise<void> = Promise.resolve()
  const isFree = () => keepers === 0
  const pruneAll = async (keep: ReadonlySet<string>) => {
    for (const place of await readdir(folder).catch(() => []))
      // A pull adds to the same folders.
      if (isFree()) await pruneImages(join(folder, place), keep, isFree)
  }
  return {
    pull: (...wanted) => pullImage(deps, ...wanted),
    has: (image) => existsSync(imageRootOf(folder, image)),
    async keepImages(work) {
      keepers++
      try {
        // The removal that goes on is the last one.
        await pruning
        return await work()
      } finally {
        keepers--
      }
    },
    async prune(keep) {
      const own = pruning.then(() => pruneAll(keep))
      pruning = own.catch(() => undefined)
      await own
    },
    rootOf: (image) => imageRootOf(folder, image),
  }
}
