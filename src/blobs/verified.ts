// A range of a blob that comes in chunks of any size: chunks are held back until the sum of their piece fits.
import type { ByteRange, NewBlob } from './blob.ts'
import { createBlobVerifier, PIECE_SIZE } from './checksum.ts'

/**
 * The bytes of `range`, from chunks that begin with `from`, a piece's first byte, and end with a piece. A blob with one sum
 * of all its bytes may be larger than memory: of it the last chunk alone is held back. Throws `blob_damaged`.
 */
export async function* verified(
  chunks: AsyncIterable<Buffer>,
  blob: NewBlob,
  { from, range }: { from: number; range: ByteRange },
): AsyncGenerator<Buffer, void, undefined> {
  const verifier = createBlobVerifier(blob, from)
  let position = from
  const held: Buffer[] = []
  for await (const chunk of chunks) {
    const isChecked = verifier.update(chunk)
    if (verifier.pieceSize > PIECE_SIZE) yield* held.splice(0)
    const wanted = withinRange(chunk, position, range)
    if (wanted.length > 0) held.push(wanted)
    position += chunk.length
    if (isChecked) yield* held.splice(0)
  }
}

/** The bytes of a chunk that are in a range; the chunk itself where all are. */
export function withinRange(chunk: Buffer, position: number, { first, last }: ByteRange): Buffer {
  const start = Math.max(first - position, 0)
  const end = Math.min(last + 1 - position, chunk.length)
  if (start === 0 && end === chunk.length) return chunk
  return chunk.subarray(start, Math.max(start, end))
}
