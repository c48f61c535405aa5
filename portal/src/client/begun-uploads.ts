// Uploads in parts that were begun in this browser and are not finished: it keeps their ids, so that the same file goes on.
import type { Place } from './s3.ts'

const KEPT = 'ergon.uploads'
/** Older ones are forgotten first; storage ends them by its own rules. */
const KEPT_MAX = 50
/** The mark of a file has so many bytes of its beginning, and as many of its end. */
const EDGE_BYTES = 65_536

/** The mark of a file among others of its name. Two files can have one size and one time. */
export type FileMark = {
  readonly bytes: number
  readonly changedMs: number
  /** SHA-256 of its beginning and its end, in hex. */
  readonly edges: string
}
export type BegunUpload = Place & FileMark & { readonly uploadId: string }

/** Throws NotReadableError for a file that has changed since it was chosen. */
export async function markOf(file: File): Promise<FileMark> {
  const { size, lastModified } = file
  const edges = new Blob([
    file.slice(0, EDGE_BYTES),
    file.slice(Math.max(EDGE_BYTES, size - EDGE_BYTES)),
  ])
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', await edges.arrayBuffer()))
  const hex = Array.from(sum, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { bytes: size, changedMs: lastModified, edges: hex }
}

const isSame = (one: FileMark, other: FileMark): boolean =>
  one.bytes === other.bytes && one.changedMs === other.changedMs && one.edges === other.edges

type Upload = Pick<BegunUpload, 'bucket' | 'key'>
const isOf =
  ({ bucket, key }: Upload) =>
  (one: BegunUpload): boolean =>
    one.bucket === bucket && one.key === key

function read(): readonly BegunUpload[] {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? '[]') as readonly BegunUpload[]
  } catch {
    return []
  }
}
const write = (list: readonly BegunUpload[]): void =>
  localStorage.setItem(KEPT, JSON.stringify(list.slice(-KEPT_MAX)))

export const begunUploads = {
  in: (bucket: string): readonly BegunUpload[] => read().filter((one) => one.bucket === bucket),
  /** The upload of this name, of whatever file. */
  at: (place: Place): BegunUpload | undefined => read().find(isOf(place)),
  /** The upload that this file began. */
  find: (place: Place, mark: FileMark): BegunUpload | undefined =>
    read().find((one) => isOf(place)(one) && isSame(one, mark)),
  keep: (begun: BegunUpload): void => write([...read().filter((one) => !isOf(begun)(one)), begun]),
  forget: (place: Place): void => write(read().filter((one) => !isOf(place)(one))),
  /** Their names are none of the next member. */
  forgetAll: (): void => localStorage.removeItem(KEPT),
}
