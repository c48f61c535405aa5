// Takes a body in: verifies it as it arrives, keeps it where bodies of its size are kept, and answers
// only when it is durable and is what its sender said. What does not add up leaves at most an orphan.
import type { IncomingHttpHeaders } from 'node:http'
import { giveBack } from '#base/buffer-pool.ts'
import type { BlobStore } from '#blobs/blob.ts'
import { INLINE_SIZE_MAX, type Body, type JsonObject } from '#objects/types.ts'
import { sealedSize, sealFrames } from '#objects/encryption/frames.ts'
import type { BodyKey } from '#objects/encryption/vault.ts'
import { openIntake, type Digests, type OpenSums } from './intake.ts'
import { planBody, UPLOAD_BYTES_MAX, type BodyPlan } from './plan.ts'
import type { StorageRequest } from '#s3/call.ts'
import { DOCUMENT_BYTES_MAX } from '#s3/xml/read.ts'
import type { RequestChecksum } from '#s3/checksums/request.ts'
import type { ChecksumAlgorithm, Hashers } from '#s3/checksums/algorithms.ts'
import type { SumThread } from '#s3/checksums/sum-thread.ts'
import { sumInLine } from '#s3/checksums/summing.ts'

export type Received = {
  readonly body: Body
  readonly size: number
  /** Hexadecimal MD5: the ETag of what was not uploaded in parts. */
  readonly etag: string
  /** The algorithm's name → its value in base64; `type` FULL_OBJECT. */
  readonly checksums: JsonObject
}

export type ReceivedText = Pick<Received, 'etag' | 'checksums'> & { readonly bytes: Buffer }

export type ReceiveOptions = {
  /** It goes into a blob however small it is, as parts are pieces of a body. */
  readonly isPart?: boolean
  /** Computed where the client brings no checksum. */
  readonly algorithm?: ChecksumAlgorithm
  /** What it is encrypted with. */
  readonly bodyKey?: BodyKey | undefined
}

/** Without `length` it ends where the bytes do. */
type TakeOptions = {
  readonly length: number | undefined
  readonly algorithm?: ChecksumAlgorithm
  readonly bodyKey?: BodyKey | undefined
  /** What it must add up to. */
  readonly checksum?: RequestChecksum | undefined
  /** A body of its own, that may be small; else a part. */
  readonly isWhole?: boolean
  readonly request: Sender
}

/** Whose body it is; without a spend it is nobody's request. */
type Sender = Pick<StorageRequest, 'signal'> & Partial<Pick<StorageRequest, 'spend'>>

export interface Receiver {
  /** Before anything is added to the state. Throws InsufficientStorage and ServiceUnavailable (fenced). */
  admit(): Promise<void>
  /** What the request says of its body, before a byte of it is read. Throws what planBody does. */
  plan(request: StorageRequest, bytesMax?: number): BodyPlan
  receive(request: StorageRequest, plan: BodyPlan, options?: ReceiveOptions): Promise<Received>
  /** Takes bytes of our own in, as a part. */
  take(bytes: AsyncIterable<Buffer>, of: TakeOptions): Promise<Received>
  /** A body that is kept in the state, whole. Throws what `plan` does. */
  text(request: StorageRequest, plan: BodyPlan): Promise<ReceivedText>
  /**
   * A body that is a document, whole, of DOCUMENT_BYTES_MAX where no other limit is given; `isSummed`:
   * checksum headers are of it. Throws EntityTooLarge, and what `plan` does.
   */
  document(
    request: StorageRequest,
    bytesMax?: number,
    options?: { isSummed: boolean },
  ): Promise<Buffer>
}

/** Summing so much takes 3 ms: less than it would have to wait for. */
const IN_LINE_SIZE_MAX = 1024 * 1024

/** Of bytes that came from our own store nothing is claimed. */
const OWN = { framing: undefined, sha256: undefined, md5: undefined } as const

export function createReceiver(deps: {
  /** Where large bodies go. */
  blobs: BlobStore
  /** On the disk of the state, where small ones go. */
  local: Pick<BlobStore, 'admit'>
  hashers: Hashers
  sumThread: SumThread
}): Receiver {
  const { blobs, local, hashers, sumThread } = deps
  const inLine: OpenSums = (algorithms) => sumInLine(hashers, algorithms)

  /** Where the sums of a body are made: those of a large one that somebody pays for, on the thread. */
  const sumsFor = ({ spend }: Sender, { length = Infinity }: BodyPlan): OpenSums =>
    spend === undefined || length <= IN_LINE_SIZE_MAX
      ? inLine
      : (algorithms) => sumThread.open(algorithms, spend)

  async function store(
    sender: Sender,
    source: AsyncIterable<Buffer>,
    plan: BodyPlan,
    { isPart = false, algorithm, bodyKey }: ReceiveOptions,
  ): Promise<Received> {
    const { signal } = sender
    const intake = openIntake(source, plan, sumsFor(sender, plan), algorithm)
    const chunks = bodyKey === undefined ? intake.chunks : sealFrames(bodyKey.key, intake.chunks)
    const encryption = bodyKey?.envelope ?? null
    const isSmall = plan.length !== undefined && plan.length <= INLINE_SIZE_MAX
    const stored =
      isSmall && !isPart
        ? await joined(chunks)
        : await blobs.put(chunks, { signal, sizeMax: sealedSize(plan.bytesMax) })
    const { etag, checksums, size } = sumsOf(intake.digests())
    const body: Body = Buffer.isBuffer(stored)
      ? { kind: 'inline', bytes: stored }
      : {
          kind: 'parts',
          parts: [{ number: 1, size, etag, checksums, encryption, blob: stored }],
        }
    return { body, size, etag, checksums }
  }

  return {
    admit: () => local.admit(),
    plan: ({ body: { headers, payload } }, bytesMax) => planBody(headers, payload.signed, bytesMax),
    async text(request, plan) {
      const intake = openIntake(marked(request), plan, inLine)
      const bytes = await joined(intake.chunks)
      const { etag, checksums } = sumsOf(intake.digests())
      return { bytes, etag, checksums }
    },
    receive: (request, plan, options = {}) => store(request, marked(request), plan, options),
    take: (bytes, { length, algorithm, bodyKey, checksum, isWhole = false, request }) =>
      store(
        request,
        bytes,
        { ...OWN, checksum, length, bytesMax: length ?? UPLOAD_BYTES_MAX },
        { isPart: !isWhole, bodyKey, ...(algorithm === undefined ? {} : { algorithm }) },
      ),
    async document(request, bytesMax = DOCUMENT_BYTES_MAX, { isSummed } = { isSummed: true }) {
      const { headers, payload } = request.body
      const isChunked = headers['transfer-encoding'] !== undefined
      if (headers['content-length'] === undefined && !isChunked) return Buffer.alloc(0)
      const plan = planBody(isSummed ? headers : withoutSums(headers), payload.signed, bytesMax)
      const intake = openIntake(marked(request), plan, inLine)
      return await joined(intake.chunks)
    },
  }
}

function sumsOf({ md5, checksum, bytes }: Digests): Pick<Received, 'etag' | 'checksums' | 'size'> {
  const { algorithm, value } = checksum
  const checksums = { [algorithm]: value.toString('base64'), type: 'FULL_OBJECT' }
  return { etag: md5.toString('hex'), checksums, size: bytes }
}

/** Without the headers that say what a body adds up to. */
const withoutSums = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^x-amz-(checksum|sdk-checksum)-/.test(name)),
  )

/** The bytes as they come; what reading each took is this request's. */
export async function* marked({
  body: { payload },
  spend,
}: StorageRequest): AsyncGenerator<Buffer> {
  for await (const chunk of payload.source()) {
    yield chunk
    spend.mark()
  }
}

export async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const kept: Buffer[] = []
  for await (const chunk of chunks) kept.push(chunk)
  if (kept.length === 1 && kept[0] !== undefined) return kept[0]
  const bytes = Buffer.concat(kept)
  for (const chunk of kept) giveBack(chunk)
  return bytes
}
