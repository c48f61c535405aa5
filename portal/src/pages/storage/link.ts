// Links to an object: the times that one made in a sign-in can last, and the command for those that last longer.
import type { Place } from '#console/client/s3.ts'
import { shown } from './place.ts'

const ENDS: readonly (readonly [seconds: number, words: string])[] = [
  [900, 'In 15 minutes'],
  [3_600, 'In an hour'],
  [21_600, 'In 6 hours'],
]

/** The times within what is left of the sign-in, with which its links end; the shortest always, as each use moves the end. */
export const endsWithin = (leftMs: number): readonly (readonly [string, string])[] =>
  ENDS.filter(([seconds], nth) => nth === 0 || seconds * 1000 <= leftMs).map(
    ([seconds, words]) => [String(seconds), words] as const,
  )

/** For a token, which lasts. */
export const presignCommand = ({ bucket, key }: Place): string =>
  `ergon storage presign ${quoted(`s3://${bucket}/${key}`)} --expires 7d`

/** For an empty place. */
export const copyCommand = (bucket: string, prefix: string): string =>
  `ergon storage cp picture.png ${quoted(`s3://${bucket}/${prefix}`)}`

const PLAIN = /^[\w./:@%+=,-]+$/

/** A word of a shell; signs that turn text are its escapes. */
const quoted = (word: string): string =>
  PLAIN.test(word)
    ? word
    : `$'${shown(word.replaceAll(/[\\']/g, String.raw`\$&`)).replaceAll('\n', String.raw`\n`)}'`
