// Checks that two signed heads of one log belong to one history: the smaller tree must be the beginning of the
// larger tree. Otherwise the holder of the key showed different logs to different readers, or went back to an old copy.
import { messageOf } from '#base/errors.ts'
import type { Checkpoint } from './checkpoint.ts'
import { consistencyProof, TILE_WIDTH, type TileId, type TileReader } from './tiles.ts'
import { isConsistent, type TreeHead } from './tree.ts'

/** The service answered that it does not have a part of a log. */
export class PartMissing extends Error {}

/** The service could not be asked for a part of a log: nothing is known of the log. */
export class UnreadableLog extends Error {}

/**
 * Reads the published parts of a log. Rejects with PartMissing for parts that the service does not have, and with other
 * errors where the service could not be asked.
 */
export type LogReader = {
  checkpoint(origin: string): Promise<string>
  tile(origin: string, id: TileId & { readonly width: number }): Promise<Buffer>
}

/** The same reader, whose errors other than PartMissing are an UnreadableLog: they are no property of the log. */
export function watchedReader(read: LogReader): LogReader {
  const watched = <Part>(part: Promise<Part>): Promise<Part> =>
    part.catch((error: unknown) => {
      if (error instanceof PartMissing) throw error
      throw new UnreadableLog(messageOf(error), { cause: error })
    })
  return {
    checkpoint: (origin) => watched(read.checkpoint(origin)),
    tile: (origin, id) => watched(read.tile(origin, id)),
  }
}

/**
 * The reason, as text, why a head contradicts an earlier one. Undefined when a consistency proof (RFC 6962 §2.1.2),
 * computed from the log's tiles, leads from the smaller to the larger of the two.
 * Rejects when the tiles cannot be had: with PartMissing where the service does not have them.
 */
export async function historyFault(
  seen: TreeHead,
  head: Checkpoint,
  read: Pick<LogReader, 'tile'>,
): Promise<string | undefined> {
  const { origin } = head
  const [older, newer] = seen.size < head.size ? [seen, head] : [head, seen]
  const proof = await consistencyProof(older.size, newer.size, tilesOf(origin, newer.size, read))
  if (isConsistent(older, newer, proof)) return undefined
  return `The log ${origin} shows two histories: its ${head.size} leaves do not go with the ${seen.size} that were seen before`
}

/** The tiles of a log as they are at some size: a partial one is a prefix of the present tile of the service. */
export const tilesOf =
  (origin: string, size: number, read: Pick<LogReader, 'tile'>): TileReader =>
  (wanted) =>
    Promise.all(
      wanted.map(async ({ level, index }) => {
        const width = Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH
        const id = { level, index, width: Math.min(TILE_WIDTH, width) }
        return { level, index, hashes: await read.tile(origin, id) }
      }),
    )
