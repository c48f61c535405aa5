// The checksums of stored bytes: a CRC-32 for each piece of 256 KiB, so that a range is checked without the rest.
// They find a disk that errs, not a forger. The text names its form: `crc32-256k:` and the sums in base64url, four
// bytes each; `crc32:` and eight hex digits is the older form, one sum of the whole blob.
//
// The package computes 30 GB/s by the vector units of the CPU, of bytes that are in its cache, where zlib has 5: a
// read of 64 MiB takes 2 ms for it, not 12.
import { crc32 } from '@node-rs/crc32'
import { invariant } from '#base/errors.ts'
import type { ByteRange, NewBlob } from './blob.ts'
import { blobDamaged } from './faults.ts'

/** Reads of the file store are of one or two of them. The sums of 1 GiB take 22 KB of the blob's row. */
export const PIECE_SIZE = 256 * 1024
const PIECES = 'crc32-256k:'
const WHOLE = 'crc32:'

export type Checksum = { update(bytes: Buffer): void; text(): string }

/** The checksum of bytes that are being written. */
export function createChecksum(): Checksum {
  const sums: number[] = []
  const running = new RunningChecks(PIECE_SIZE, (sum) => void sums.push(sum))
  return {
    update: (bytes) => running.update(bytes),
    text() {
      const all = running.filled === 0 ? sums : [...sums, running.sum]
      const bytes = Buffer.alloc(all.length * SUM_BYTES)
      for (const [index, sum] of all.entries()) bytes.writeUInt32BE(sum, index * SUM_BYTES)
      return PIECES + bytes.toString('base64url')
    },
  }
}

const SUM_BYTES = 4

/** True for a checksum of the older form, with which ranges of the blob cannot be checked. */
export const isOfWhole = ({ checksum }: Pick<NewBlob, 'checksum'>): boolean =>
  checksum.startsWith(WHOLE)

/** The range to read so that a smaller range of the blob can be checked; undefined where no sum covers the range. */
export function checkableRange(blob: NewBlob, { first, last }: ByteRange): ByteRange | undefined {
  const { size } = blob
  if (last < first) return undefined
  if (isOfWhole(blob)) return first === 0 && last === size - 1 ? { first, last } : undefined
  const end = Math.ceil((last + 1) / PIECE_SIZE) * PIECE_SIZE
  return { first: Math.floor(first / PIECE_SIZE) * PIECE_SIZE, last: Math.min(end, size) - 1 }
}

export interface BlobVerifier {
  readonly pieceSize: number
  /**
   * The next bytes of the blob. True where a piece ends with them: all so far are what was written. Throws
   * `blob_damaged`.
   */
  update(bytes: Buffer): boolean
}

/** Compares a blob with its checksum from a byte on, with which a piece begins. */
export function createBlobVerifier(blob: NewBlob, first: number): BlobVerifier {
  const { sums, pieceSize } = sumsOf(blob)
  let piece = first / pieceSize
  let position = first
  const running = new RunningChecks(pieceSize, (sum) => {
    const expected = sums.readUInt32BE(piece * SUM_BYTES)
    if (sum !== expected)
      throw blobDamaged(
        blob.id,
        `the CRC-32 of piece ${piece} is ${hex(sum)}, not ${hex(expected)}`,
      )
    piece++
  })
  return {
    pieceSize,
    update(bytes) {
      position += bytes.length
      running.update(bytes)
      if (position === blob.size) running.end()
      return running.filled === 0
    },
  }
}

function sumsOf({ checksum, size, id }: NewBlob): { sums: Buffer; pieceSize: number } {
  if (isOfWhole({ checksum }))
    return { sums: Buffer.from(checksum.slice(WHOLE.length), 'hex'), pieceSize: size }
  invariant(
    checksum.startsWith(PIECES),
    `the form of a checksum is known: ${checksum.slice(0, 20)}`,
  )
  const sums = Buffer.from(checksum.slice(PIECES.length), 'base64url')
  if (sums.length !== Math.ceil(size / PIECE_SIZE) * SUM_BYTES)
    throw blobDamaged(id, `${sums.length} bytes of checksums are not those of ${size} bytes`)
  return { sums, pieceSize: PIECE_SIZE }
}

const hex = (sum: number): string => sum.toString(16).padStart(8, '0')

/** The CRC-32 of one piece after the other. */
class RunningChecks {
  sum = 0
  /** Bytes of the piece under way. */
  filled = 0
  readonly #pieceSize: number
  readonly #ended: (sum: number) => void

  constructor(pieceSize: number, ended: (sum: number) => void) {
    this.#pieceSize = pieceSize
    this.#ended = ended
  }

  update(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const rest = this.#pieceSize - this.filled
      const next = at === 0 && bytes.length <= rest ? bytes : bytes.subarray(at, at + rest)
      this.sum = crc32(next, this.sum)
      this.filled += next.length
      at += next.length
      if (this.filled === this.#pieceSize) this.end()
    }
  }

  /** The sum of the unfinished piece, if any. */
  end(): void {
    if (this.filled === 0) return
    this.#ended(this.sum)
    this.sum = 0
    this.filled = 0
  }
}
