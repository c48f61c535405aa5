// The images of this node: unpacked root folders, which one kind of process alone writes.
import { existsSync } from 'node:fs'
import { pruneImages } from '#images/prune.ts'
import type { WorkloadDriver } from './driver.ts'
import { pullImage, rootOf, type NodePulls } from './pull-image.ts'

export type NodeImages = Pick<WorkloadDriver, 'pull' | 'has' | 'prune'> & {
  /** The unpacked root folder. */
  rootOf(digest: string): string
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
    has: (digest) => existsSync(rootOf(folder, digest)),
    async prune(keep) {
      // A pull adds to the same folder.
      if (pulls > 0) return
      await pruneImages(folder, keep)
    },
    rootOf: (digest) => rootOf(folder, digest),
  }
}
