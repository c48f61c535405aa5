// Where bytes are: an object or the keys below a prefix (s3://bucket/key), a path, or the standard streams.
import { join } from 'node:path'
import { CommandError, EXIT } from '#cli/output.ts'

export type ObjectPlace = {
  readonly kind: 'object'
  readonly bucket: string
  /** A key or the beginning of keys; '' is the whole bucket. */
  readonly key: string
}
export type FilePlace = { readonly kind: 'file'; readonly path: string }
export type TransferEnd = ObjectPlace | FilePlace | { readonly kind: 'standard' }

const SCHEME = 's3://'

/** Reads 's3://bucket/key', '-' or a path; throws a CommandError when the bucket has no name. */
export function parseTransferEnd(text: string): TransferEnd {
  if (text === '-') return { kind: 'standard' }
  if (!text.startsWith(SCHEME)) return { kind: 'file', path: text }
  const [bucket = '', ...rest] = text.slice(SCHEME.length).split('/')
  if (bucket === '')
    throw new CommandError(`No bucket is named: ${text}`, EXIT.usage, 'ergon storage ls')
  return { kind: 'object', bucket, key: rest.join('/') }
}

/** The same, for commands that only know buckets. */
export function objectPlaceOf(text: string): ObjectPlace {
  const place = parseTransferEnd(text)
  if (place.kind !== 'object')
    throw new CommandError(`Not in a bucket: "${text}"`, EXIT.usage, 's3://bucket/key')
  return place
}

/** A bucket, named with or without the scheme. */
export function bucketNamed(text: string): string {
  const { bucket, key } = objectPlaceOf(text.startsWith(SCHEME) ? text : SCHEME + text)
  if (key !== '')
    throw new CommandError(`A key, not a bucket: ${text}`, EXIT.usage, `${SCHEME}${bucket}`)
  return bucket
}

/** As it is written on the command line; control characters cannot reach the terminal. */
export const placeText = ({ bucket, key }: { bucket: string; key: string }): string =>
  printable(`${SCHEME}${bucket}/${key}`)

/** A key may hold escape sequences, and others may have chosen it. */
export const printable = (text: string): string =>
  text.replace(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )

/** A recursive command works below 'photos/', never on 'photos-of-others/' too. */
export const folderOf = (key: string): string => (key === '' || key.endsWith('/') ? key : `${key}/`)

/** The key of one file: a place that ends in '/' is a folder, in which the file keeps its name. */
export const keyIn = (key: string, name: string): string =>
  key === '' || key.endsWith('/') ? key + name : key

/** The path of a key below a folder; keys that would lead out of it, or have no name, are refused. */
export function pathIn(folder: string, key: string): string {
  const names = key.split('/')
  const isNameless = (name: string) => ['', '.', '..'].includes(name) || name.includes('\0')
  if (names.some(isNameless))
    throw new CommandError(
      `No file can have the name of the key: ${printable(key)}`,
      EXIT.failed,
      'copy this one to a path of your choice, without --recursive',
    )
  return join(folder, ...names)
}
