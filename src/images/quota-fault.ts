// The refusals of an image for which its account or the disk has no room, before, during or after its fetch.
import { fault } from '#contract/errors.ts'

const BYTES_PER_MB = 1_000_000

export type QuotaRefusal = {
  /** The images of the account may have so many bytes more. */
  readonly roomBytes: number
  /** All copies of the image together, once the size is known. */
  readonly bytes?: number
  /** Two where an engine has the files once more. */
  readonly copies?: number
}

export function imageBeyondQuota(text: string, { roomBytes, bytes, copies = 1 }: QuotaRefusal) {
  const withCopy = copies > 1 ? " with the engine's copy of it" : ''
  const size = bytes === undefined ? '' : `it takes ${mb(Math.ceil, bytes)}${withCopy}, and `
  const hint =
    bytes === undefined && copies > 1 ? ", and the engine's copy of an image counts too" : ''
  return fault(
    'image_quota_exceeded',
    `Could not keep the image "${text}": ${size}the images of the account may have ${mb(Math.floor, roomBytes)} more${hint}`,
  )
}

const mb = (round: (n: number) => number, bytes: number): string =>
  `${round(bytes / BYTES_PER_MB)} MB`

/** Not for good: images and data go. The version can be wanted again. */
export const imageBeyondDisk = (text: string) =>
  fault('workload_failed', `Could not pull "${text}": the disk of the node has no room for it`)
