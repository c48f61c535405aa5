// The refusals of an image for which its account or the disk has no room, before, during or after its fetch.
import { fault } from '#contract/errors.ts'

const BYTES_PER_MB = 1_000_000

export const imageBeyondQuota = (text: string, bytes: number) =>
  fault(
    'image_quota_exceeded',
    `Could not keep the image "${text}": the images of the account may have ${Math.floor(bytes / BYTES_PER_MB)} MB more`,
  )

/** Not for good: images and data go. The version can be wanted again. */
export const imageBeyondDisk = (text: string) =>
  fault('workload_failed', `Could not pull "${text}": the disk of the node has no room for it`)
