// Why a database is full, and the last messages of sessions that fill it.
import type { FatalError } from '#wire/messages.ts'
import type { StoredFiles } from './stored.ts'

/** A database with more files is full: each measurement of them takes time of the node. */
export const FILES_MAX = 100_000
const MIB = 1_048_576

/** The room that a database may take. */
export type SizeLimits = {
  readonly sizeBytes: () => number
  /** Bytes that databases may still take of the disk. */
  readonly spaceBytes: () => number
}

export type WhyFull = 'disk' | 'files' | 'size'

/** Undefined where there is room. `part` of a limit counts, of the one that the database has reached. */
export function whyFull(
  { sizeBytes, spaceBytes }: SizeLimits,
  { bytes, files }: Pick<StoredFiles, 'bytes' | 'files'>,
  part: Partial<Record<WhyFull, number>> = {},
): WhyFull | undefined {
  if (spaceBytes() <= 0) return 'disk'
  if (files > FILES_MAX * (part.files ?? 1)) return 'files'
  return bytes >= sizeBytes() * (part.size ?? 1) ? 'size' : undefined
}

/** For a session that writes. */
export function fullWords(why: WhyFull, { sizeBytes }: SizeLimits): FatalError {
  switch (why) {
    case 'disk':
      return {
        code: '53100',
        message: 'the disk of the node is full',
        hint: 'Try again later, or ask the operator. The database can be read meanwhile.',
      }
    case 'files':
      return {
        code: '53100',
        message: `the database is full: it has more than ${FILES_MAX} files`,
        hint: 'Drop tables or indexes (begin read write; then drop). A table has up to 6 files, an index has one.',
      }
    case 'size':
      return {
        code: '53100',
        message: `the database is full: its size is ${Math.round(sizeBytes() / MIB)} MiB`,
        hint: 'Make room (begin read write; then delete and vacuum, truncate or drop), or: ergon db resize',
      }
  }
}

/** For a session whose query wrote temporary files. */
export const temporaryWords = ({ sizeBytes }: SizeLimits): FatalError => ({
  code: '53100',
  message: `the temporary files of the query leave no room in the database of ${Math.round(sizeBytes() / MIB)} MiB`,
  hint: 'Sort or join less at once, add an index, or: ergon db resize',
})
