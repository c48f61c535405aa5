// Why a database is full, and the last messages of sessions that fill it.
import { sizeText } from '#contract/values/sizes.ts'
import type { FatalError } from '#wire/messages.ts'
import type { StoredFiles } from './stored.ts'

/** A database with more files is full: each measurement of them takes time of the node. */
export const FILES_MAX = 100_000

/** The room that a database may take. */
export type SizeLimits = {
  /** The name that the owner gave the database. */
  readonly name: string
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
export function fullWords(why: WhyFull, { name, sizeBytes }: SizeLimits): FatalError {
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
        message: `the database is full: its size is ${sizeText(sizeBytes())}`,
        hint: `Make room (vacuum <table> for rows of ended transactions; begin read write, then delete and vacuum full, truncate or drop), or: ${resize(name)}`,
      }
  }
}

/** For a session that would pass a limit before the next measurement. Without it the database has room, mostly. */
export function aheadWords(limits: SizeLimits, { bytes }: Pick<StoredFiles, 'bytes'>): FatalError {
  const { name, sizeBytes, spaceBytes } = limits
  if (spaceBytes() < sizeBytes() - bytes) return fullWords('disk', limits)
  return {
    code: '53100',
    message: `the session was about to fill the database: its size is ${sizeText(sizeBytes())}`,
    hint: `What its transaction wrote is undone; rows in a table keep their room until: vacuum <table>. Write less, or: ${resize(name)}`,
  }
}

const resize = (name: string) => `ergon db resize ${name} <size>`

/** For a session whose query wrote temporary files. */
export const temporaryWords = ({ name, sizeBytes }: SizeLimits): FatalError => ({
  code: '53100',
  message: `the temporary files of the query leave no room in the database of ${sizeText(sizeBytes())}`,
  hint: `Sort or join less at once, add an index, or: ${resize(name)}`,
})

/** For a session in whose transaction messages of NOTIFY may wait: PostgreSQL does not tell who listens. */
export const unreadWords: FatalError = {
  code: '53100',
  message: 'messages of NOTIFY that wait for the end of a transaction fill the database',
  hint: 'Sessions in a transaction are ended, as PostgreSQL does not tell which of them listens. Let the session that listens end its transactions and read its messages; or end the sessions of its role: ergon db role rotate <database> <role>',
}
