// The removal of images from a node.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { digestHex } from './blobs.ts'

/**
 * Removes images but those of the digests, and all blobs, which are needed for unpacking alone. Nothing may be pulled
 * meanwhile: the removal of further images ends once `isFree` says no.
 */
export async function pruneImages(
  folder: string,
  keep: ReadonlySet<string>,
  isFree: () => boolean = () => true,
): Promise<void> {
  const kept = new Set(Array.from(keep, digestHex))
  const isKept = (name: string) => kept.has(name.split('.')[0] ?? '')
  for (const [part, isRoots] of [
    ['blobs', false],
    ['roots', true],
    ['archives', false],
  ] as const)
    for (const name of await readdir(join(folder, part)).catch(() => [])) {
      if (!isFree()) return
      if (!(isRoots && isKept(name)))
        await rm(join(folder, part, name), { recursive: true, force: true })
    }
}
