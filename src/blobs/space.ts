// The limit for tenants' writes: the last tenth of the disk is kept for journals and the write-ahead log.
import type { Clock } from '#base/clock.ts'
import type { BlobDisk } from './disk.ts'

/** Writes of one second share a check: 10 GB/s would fill 1 % of a 1 TB disk in it. */
const AGE_MAX_MS = 1000

export function createSpaceCheck(deps: {
  disk: BlobDisk
  clock: Clock
  folder: string
  usedMax: number
}): () => Promise<boolean> {
  const { disk, clock, folder, usedMax } = deps
  let answer: Promise<boolean> | undefined
  let askedAtMs = 0
  return () => {
    const nowMs = clock.monotonicMs()
    if (answer !== undefined && nowMs - askedAtMs < AGE_MAX_MS) return answer
    askedAtMs = nowMs
    answer = disk
      .space(folder)
      .then(({ freeBytes, totalBytes }) => freeBytes > totalBytes * (1 - usedMax))
    return answer
  }
}
