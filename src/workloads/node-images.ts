// The images of this node: unpacked root folders, which one kind of process alone writes.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pruneImages } from '#images/prune.ts'
import type { PulledImageName, WorkloadDriver } from './driver.ts'
import { imageRootOf } from './image-place.ts'
import { pullImage, type NodePulls } from './pull-image.ts'

export type NodeImages = Pick<WorkloadDriver, 'pull' | 'has' | 'prune'> & {
  /** The unpacked root folder. */
  readonly rootOf: (image: PulledImageName) => string
}

export function createNodeImages(deps: NodePulls): NodeImages {
  const { folder } = deps
  let pulls = 0
  return {
    async pull(...wanted) {
      pulls++
      try {
        return await pullImage(deps, ...wanted)
      } finally {
        pulls--
      }
    },
    has: (image) => existsSync(imageRootOf(folder, image)),
    async prune(keep) {
      for (const place of await readdir(folder).catch(() => [])) {
        // A pull adds to the same folders.
        if (pulls > 0) return
        await pruneImages(join(folder, place), keep)
      }
    },
    rootOf: (image) => imageRootOf(folder, image),
  }
}
