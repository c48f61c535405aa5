// Uploads in parts that were begun in this browser and are not finished: it keeps their ids, so that the same file goes on.
import type { Place } from './s3.ts'

const KEPT = 'ergon.uploads'
/** Older ones are forgotten first; storage ends them by its own rules. */
const KEPT_MAX = 50

export type BegunUpload = Place & {
  readonly uploadId: string
  /** Of the file: another file of this name begins anew. */
  readonly bytes: number
  readonly changedMs: number
}

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
  /** The upload that this file began. */
  find: (place: Place, { size, lastModified }: File): BegunUpload | undefined =>
    read().find((one) => isOf(place)(one) && one.bytes === size && one.changedMs === lastModified),
  keep: (begun: BegunUpload): void => write([...read().filter((one) => !isOf(begun)(one)), begun]),
  forget: (place: Place): void => write(read().filter((one) => !isOf(place)(one))),
  /** Their names are none of the next member. */
  forgetAll: (): void => localStorage.removeItem(KEPT),
}
