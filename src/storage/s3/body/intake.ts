// Reads a body once: takes its framing off, hashes what passes, and ends well only when length,
// signatures and every checksum are right. Whoever consumes it must not commit before it has ended.
import { createHash, timingSafeEqual, type Hash } from 'node:crypto'
import { invariant, present } from '#base/errors.ts'
import { storageFault } from '#storage/errors.ts'
import {
  CHECKSUMS,
  DEFAULT_ALGORITHM,
  type ChecksumAlgorithm,
  type Hasher,
  type Hashers,
} from '#storage/s3/checksums/algorithms.ts'
import { parseChecksum } from '#storage/s3/checksums/request.ts'
import { createDeframer } from './deframe.ts'
import { tooLarge, type BodyPlan } from './plan.ts'

export type Digests = {
  readonly bytes: number
  readonly md5: Buffer
  readonly checksum: { readonly algorithm: ChecksumAlgorithm; readonly value: Buffer }
}

export type Intake = {
  /** The decoded body, to be read once; it throws instead of ending when something is wrong. */
  readonly chunks: AsyncGenerator<Buffer, void, undefined>
  /** What was read; to be called after `chunks` has ended. */
  digests(): Digests
}

/**
 * Opens a body. `algorithm` is computed when the client sends no checksum of its own (of a part, its
 * upload's; else CRC64NVME). Back-pressure is the consumer's: nothing is read before it is asked for.
 */
export async function openIntake(
  source: AsyncIterable<Buffer>,
  plan: BodyPlan,
  hashers: Hashers,
  algorithm: ChecksumAlgorithm = DEFAULT_ALGORITHM,
): Promise<Intake> {
  const used = plan.checksum?.algorithm ?? algorithm
  const hasher = await hashers.open(used)
  let digests: Digests | undefined
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    const md5 = createHash('md5')
    const sha256 = plan.sha256 === undefined ? undefined : createHash('sha256')
    let bytes = 0
    const trailers = { found: new Map<string, string>() as ReadonlyMap<string, string> }
    for await (const chunk of decoded(source, plan, trailers)) {
      bytes += chunk.length
      if (bytes > (plan.length ?? Infinity)) throw storageFault('IncompleteBody')
      if (bytes > plan.bytesMax) throw tooLarge(bytes, plan.bytesMax)
      md5.update(chunk)
      sha256?.update(chunk)
      hasher.update(chunk)
      yield chunk
    }
    if (bytes !== (plan.length ?? bytes)) throw storageFault('IncompleteBody')
    digests = check(plan, trailers.found, { bytes, used, md5, sha256, hasher })
  }
  return {
    chunks: chunks(),
    digests: () => present(digests, 'The body has not been read to its end'),
  }
}

async function* decoded(
  source: AsyncIterable<Buffer>,
  { framing, length }: BodyPlan,
  trailers: { found: ReadonlyMap<string, string> },
): AsyncGenerator<Buffer, void, undefined> {
  if (framing === undefined) {
    yield* source
    return
  }
  invariant(length !== undefined, 'A framed body says its length')
  const deframer = createDeframer(framing, length)
  for await (const bytes of source) yield* deframer.push(bytes)
  trailers.found = deframer.end()
}

type Running = {
  readonly bytes: number
  readonly used: ChecksumAlgorithm
  readonly md5: Hash
  readonly sha256: Hash | undefined
  readonly hasher: Hasher
}

function check(plan: BodyPlan, trailers: ReadonlyMap<string, string>, running: Running): Digests {
  const { used, bytes } = running
  const md5 = running.md5.digest()
  const value = running.hasher.digest()
  const sha256 = running.sha256?.digest('hex')
  if (sha256 !== plan.sha256)
    throw storageFault('XAmzContentSHA256Mismatch', undefined, {
      ClientComputedContentSHA256: plan.sha256 ?? '',
      S3ComputedContentSHA256: sha256 ?? '',
    })
  if (plan.md5 !== undefined && !timingSafeEqual(plan.md5, md5))
    throw storageFault('BadDigest', undefined, {
      ExpectedDigest: plan.md5.toString('base64'),
      CalculatedDigest: md5.toString('base64'),
    })
  if (plan.checksum !== undefined) {
    invariant(plan.checksum.algorithm === used, 'The checksum of the request is the one computed')
    const expected = plan.checksum.expected ?? trailing(used, trailers)
    if (!timingSafeEqual(expected, value))
      throw storageFault(
        'BadDigest',
        `The ${used} you specified did not match the calculated checksum.`,
      )
  }
  return { bytes, md5, checksum: { algorithm: used, value } }
}

function trailing(algorithm: ChecksumAlgorithm, trailers: ReadonlyMap<string, string>): Buffer {
  const text = trailers.get(CHECKSUMS[algorithm].header)
  if (text === undefined) throw storageFault('MalformedTrailerError')
  return parseChecksum(algorithm, text)
}
