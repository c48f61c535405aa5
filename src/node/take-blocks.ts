// Takes blocks of a disk for a file, without writing them. fallocate(1) succeeds on file systems that take none, as ZFS does:
// what was believed to be kept would be others'.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { fault } from '#contract/errors.ts'

export type BlocksToTake = {
  readonly path: string
  /** Where they begin in the file (default 0). */
  readonly from?: number
  readonly bytes: number
  /** Writes where the file system cannot take blocks otherwise. */
  readonly posix?: boolean
}

const TAKE_MS_MAX = 60_000
const BLOCK_BYTES = 512
/** A file system may count a few blocks later, or in another size. */
const TAKEN_PART = 0.9
const run = promisify(execFile)

const allocate = async (
  { path, from = 0, bytes, posix = false }: BlocksToTake,
  signal?: AbortSignal,
): Promise<void> => {
  const words = ['--offset', String(from), '--length', String(bytes), path]
  const options = { timeout: TAKE_MS_MAX, ...(signal && { signal }) }
  await run('fallocate', posix ? ['--posix', ...words] : words, options)
}

/** Rejects where the blocks are not the file's afterwards. */
export async function takeBlocks(
  wanted: BlocksToTake,
  signal?: AbortSignal,
  take = allocate,
): Promise<void> {
  await take(wanted, signal)
  const { blocks } = await stat(wanted.path)
  const wholeBytes = (wanted.from ?? 0) + wanted.bytes
  if (blocks * BLOCK_BYTES < wholeBytes * TAKEN_PART)
    throw fault(
      'internal',
      `The file system keeps no room for a file: ${blocks * BLOCK_BYTES} of ${wholeBytes} bytes were taken`,
    )
}
