// A file that is there whole or not at all.
import { realpathSync, renameSync, rmSync, statSync } from 'node:fs'

/** Lets a file be written beside its place, and puts it there once it is whole. */
export async function wholeFile(
  file: string,
  write: (path: string) => Promise<void>,
): Promise<void> {
  const there = statSync(file, { throwIfNoEntry: false })
  // A pipe, or /dev/null.
  if (there !== undefined && !there.isFile()) return await write(file)
  const place = there === undefined ? file : realpathSync(file)
  const beside = `${place}.part-${process.pid}`
  try {
    await write(beside)
    renameSync(beside, place)
  } finally {
    rmSync(beside, { force: true })
  }
}
