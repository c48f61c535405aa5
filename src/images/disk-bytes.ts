// A folder of an image on its disk: the part of the disk that it takes, and that all of its bytes are there.
import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inodeBytesOf } from '#base/tenant-room.ts'

const MEASURE_MS = 120_000
const SYNC_MS = 600_000
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
const run = promisify(execFile)

/**
 * The bytes of the disk that nobody else can have: those of the blocks of a folder, or the part of its inodes where that is more.
 * A file with several names counts once. By du(1) of coreutils: a tree of an image has half a million files at most.
 */
export async function diskBytes(folder: string, signal: AbortSignal): Promise<number> {
  const options = { timeout: MEASURE_MS, signal, env: ENVIRONMENT }
  const sumOf = async (unit: string) => {
    const { stdout } = await run('du', ['--summarize', unit, '--', folder], options)
    return Number.parseInt(stdout, 10)
  }
  const inodesBytes = (await sumOf('--inodes')) * inodeBytesOf(await statfs(folder))
  return Math.max(await sumOf('--block-size=1'), inodesBytes)
}

/**
 * Writes all files of the disk of a folder to it, by sync(1). Files of 2 kB, 20,000 of them, took 0.1 s; a call of fsync(2) for
 * each took 4.1 s.
 */
export async function syncDisk(folder: string, signal: AbortSignal): Promise<void> {
  const options = { timeout: SYNC_MS, signal, env: ENVIRONMENT }
  await run('sync', ['--file-system', '--', folder], options)
}
