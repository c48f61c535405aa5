// Reads a body once: removes its framing and sums its bytes. The stream ends well only when length, signatures and
// every checksum are right, so a consumer must not commit before its end.
import { timingSafeEqual } from 'node:crypto'
import { invariant, present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { CHECKSUMS, type ChecksumAlgorithm } from '#s3/checksums/algorithms.ts'
import { parseChecksum } from '#s3/checksums/request.ts'
import type { Summing, Sums } from '#s3/checksums/summing.ts'
import { createDeframer } from './deframe.ts'
import { tooLarge, type BodyPlan } from './plan.ts'

export type Digests = {
  readonly bytes: number
  readonly md5: Buffer
  /** Absent where no digest was requested. */
  readonly checksum: { readonly algorithm: ChecksumAlgorithm; readonly value: Buffer } | undefined
}

export type Intake = {
  /** The decoded body; can be read once, and throws at the end when something is wrong. */
  readonly chunks: AsyncGenerator<Buffer, void, undefined>
  /** The digests; called after `chunks` has ended. */
  digests(): Digests
}

/** Opens the checksums of a body. */
export type OpenSums = (algorithms: ReadonlySet<ChecksumAlgorithm>) => Summing | Promise<Summing>

/**
 * Opens a body. `algorithm` is used when the client sends no checksum (for a part: that of the upload; for a copy: that
 * of its request). The consumer's pull is the back-pressure.
 */
export function openIntake(
  source: AsyncIterable<Buffer>,
  plan: BodyPlan,
  openSums: OpenSums,
  algorithm?: ChecksumAlgorithm,
): Intake {
  const used = plan.checksum?.algorithm ?? algorithm
  let digests: Digests | undefined
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    const summing = await openSums(
      new Set<ChecksumAlgorithm>([
        'MD5',
        ...(used === undefined ? [] : [used]),
        ...(plan.sha256 === undefined ? [] : [SHA256]),
      ]),
    )
    let bytes = 0
    const trailers = { found: new Map<string, string>() as ReadonlyMap<string, string> }
    try {
      for await (const chunk of decoded(source, plan, trailers)) {
        bytes += chunk.length
        if (bytes > (plan.length ?? Infinity)) throw storageFault('IncompleteBody')
        if (bytes > plan.bytesMax) throw tooLarge(bytes, plan.bytesMax)
        const busy = summing.update(chunk)
        if (busy !== undefined) await busy
        yield chunk
      }
      if (bytes !== (plan.length ?? bytes)) throw storageFault('IncompleteBody')
      digests = check(plan, trailers.found, { bytes, used, sums: await summing.digest() })
    } finally {
      // The CPU of summing a failed body is billed before its request ends.
      await summing.drop()
    }
  }
  return {
    chunks: chunks(),
    digests: () => present(digests, 'The body has not been read to its end'),
  }
}

const SHA256: ChecksumAlgorithm = 'SHA256'

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

type RunningIntake = {
  readonly bytes: number
  readonly used: ChecksumAlgorithm | undefined
  readonly sums: Sums
}

function check(
  plan: BodyPlan,
  trailers: ReadonlyMap<string, string>,
  running: RunningIntake,
): Digests {
  const { used, bytes } = running
  const sumOf = (algorithm: ChecksumAlgorithm) =>
    present(running.sums.get(algorithm), 'What was opened was summed')
  const md5 = sumOf('MD5')
  const sha256 = plan.sha256 && sumOf(SHA256).toString('hex')
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
  if (used === undefined) return { bytes, md5, checksum: undefined }
  const value = sumOf(used)
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
