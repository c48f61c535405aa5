// Where volumes are in the root folder of an image: its links must not lead a volume to a place that a path cannot name.
import { resolveIn } from '#cells/root/plan.ts'
import type { CellVolume } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { VOLUME_PATH } from '#contract/workloads/workload-limits.ts'

/** Throws workload_failed, or image_unsupported for links that lead nowhere. */
export function assertVolumePaths(
  volumes: readonly Pick<CellVolume, 'path'>[],
  root: string,
): void {
  const found = volumes.map(({ path }) => ({ path, at: `/${resolveIn(root, path)}` }))
  for (const { path, at } of found) {
    const led = `links of the image lead to ${at.slice(0, 200)}`
    if (!VOLUME_PATH.test(at)) throw misplaced(path, `${led}, where no volume can be`)
    const other = found.find((one) => one.path !== path && `${at}/`.startsWith(`${one.at}/`))
    if (other !== undefined) throw misplaced(path, `${led}, within the volume at ${other.path}`)
  }
}

const misplaced = (path: string, why: string) =>
  fault('workload_failed', `Could not mount a volume at ${path}: ${why}`)
