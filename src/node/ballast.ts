// Room that is kept for the journals and the WAL when others fill the disk: a file without meaning,
// which is given up when little is left and made again when there is room. While it is given up the
// node says that it is not ready; what it has promised it can still write.
import { rmSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { takeBlocks } from './take-blocks.ts'

const LOOK_MS = 1000
/**
 * The largest part of a small disk: with the room that its making asks for it is the tenth that tenants and volumes
 * leave.
 */
const SHARE_OF_DISK = 15
/** Below this part of it, free, it is given up: 64 MiB of 256, four segments of a journal. */
const LOW_SHARE = 4

export interface Ballast {
  /** True after the reserve was given up: the disk is full. */
  readonly isFull: boolean
  stop(): Promise<void>
}

type Deps = {
  readonly path: string
  readonly bytesMax: number
  readonly log: Logger
  /** Called each second while the disk is full, and then until every gateway has heard that there is room. */
  readonly tell: (isFull: boolean) => Promise<boolean>
  readonly lookMs?: number
}

/** Makes the reserve, and checks the disk each second. 0 bytes removes the reserve of an earlier start. */
export function startBallast(deps: Deps): Ballast {
  const { path, log, tell } = deps
  const stopping = new AbortController()
  let isFull = false
  let isOwed = false
  let trouble: string | undefined

  async function look(): Promise<void> {
    const { freeBytes, wantedBytes } = await roomOf(path, deps.bytesMax)
    const hadBytes = sizeOf(path)
    const lowBytes = wantedBytes / LOW_SHARE
    const wasFull = isFull
    // Twice what is low: made again it must not be given up at once.
    const isRoomy = freeBytes + hadBytes >= wantedBytes + 2 * lowBytes
    isFull = freeBytes < lowBytes || (wasFull && !isRoomy)
    if (isFull || hadBytes > wantedBytes) rmSync(path, { force: true })
    if (isFull && !wasFull)
      log.error('The disk is full: the reserve was given up; make room', { freeBytes, path })
    if (isRoomy && hadBytes === 0) await make(path, wantedBytes, stopping.signal)
    if (wasFull && !isFull) log.warn('The disk has room again: the reserve is kept', { freeBytes })
    if (isFull || isOwed) isOwed = !(await tell(isFull)) || isFull
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      trouble = await look().then(
        () => undefined,
        (error: unknown) => {
          const what = messageOf(error)
          // The same fault comes each second.
          if (!stopping.signal.aborted && what !== trouble)
            log.warn('The disk could not be watched', { error: what })
          return what
        },
      )
      await sleep(deps.lookMs ?? LOOK_MS, stopping.signal).catch(() => undefined)
    }
  }
  const watching = watch()
  return {
    get isFull() {
      return isFull
    },
    async stop() {
      stopping.abort()
      await watching
    },
  }
}

/** Free bytes of the disk, and the right size of its reserve. */
async function roomOf(path: string, bytesMax: number) {
  const { bavail, blocks, bsize } = await statfs(dirname(path))
  const share = Math.floor((blocks * bsize) / SHARE_OF_DISK)
  return { freeBytes: bavail * bsize, wantedBytes: Math.min(bytesMax, share) }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Takes blocks without writing them where the file system can, else by writing. */
async function make(path: string, bytes: number, signal: AbortSignal): Promise<void> {
  if (bytes === 0) return
  try {
    await takeBlocks({ path, bytes, posix: true }, signal)
  } catch (error) {
    // Half of one would be taken for a whole one.
    rmSync(path, { force: true })
    throw error
  }
}
