// Receives a body: verifies it while it arrives and stores it where bodies of its size belong. Resolves when the body
// is durable and matches its length, signature and checksums. A failed body leaves at most an orphan.
import type { IncomingHttpHeaders } from 'node:http'
import { giveBack } from '#base/buffer-pool.ts'
import type { BlobStore } from '#blobs/blob.ts'
import { INLINE_SIZE_MAX, type ObjectBody, type JsonObject } from '#objects/types.ts'
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
  readonly body: ObjectBody
  readonly size: number
  /** Hexadecimal MD5: the ETag of an object that was not uploaded in parts. */
  readonly etag: string
  /** The algorithm's name → its value in base64; `type` FULL_OBJECT. Empty where nobody asked for any. */
  readonly checksums: JsonObject
}

export type ReceivedText = Pick<Received, 'etag' | 'checksums'> & { readonly bytes: Buffer }

export type ReceiveOptions = {
  /** Store it in a blob even when it is small: parts are pieces of a body. */
  readonly isPart?: boolean
  /** The checksum to compute when the client sends none. */
  readonly algorithm?: ChecksumAlgorithm
  /** The key that encrypts it. */
  readonly bodyKey?: BodyKey | undefined
}

/** Undefined: up to the end of the bytes. */
type TakeOptions = {
  readonly length: number | undefined
  readonly algorithm?: ChecksumAlgorithm
  readonly bodyKey?: BodyKey | undefined
  /** The expected checksum. */
  readonly checksum?: RequestChecksum | undefined
  /** A whole body, which may be inline; otherwise a part. */
  readonly isWhole?: boolean
  readonly request: Sender
}

/** The request of the body; without a spend no request pays. */
type Sender = Pick<StorageRequest, 'signal'> & Partial<Pick<StorageRequest, 'spend'>>

export interface Receiver {
  /** Called before rows are added. Throws InsufficientStorage and ServiceUnavailable (fenced). */
  admit(): Promise<void>
  /** The plan of the request's body, before a byte is read. Throws what planBody throws. */
  plan(request: StorageRequest, bytesMax?: number): BodyPlan
  receive(request: StorageRequest, plan: BodyPlan, options?: ReceiveOptions): Promise<Received>
  /** Receives bytes of the store itself, for copies and logs. */
  take(bytes: AsyncIterable<Buffer>, of: TakeOptions): Promise<Received>
  /** A body that the state stores whole. Throws what `plan` throws. */
  text(request: StorageRequest, plan: BodyPlan): Promise<ReceivedText>
  /**
   * A document, whole, with at most DOCUMENT_BYTES_MAX bytes unless another limit is given. `isSummed`: checksum
   * headers apply to it. Throws EntityTooLarge, and what `plan` throws.
   */
  document(
    request: StorageRequest,
    bytesMax?: number,
    options?: { isSummed: boolean },
  ): Promise<Buffer>
}

/** Summing this many bytes takes 3 ms, less than waiting for the thread. */
const IN_LINE_SIZE_MAX = 1024 * 1024

/** Bytes from the own store have no claims to check. */
const OWN = { framing: undefined, sha256: undefined, md5: undefined } as const

export function createReceiver(deps: {
  /** The store of large bodies. */
  blobs: BlobStore
  /** The store on the disk of the state, which has the inline bodies. */
  local: Pick<BlobStore, 'admit'>
  hashers: Hashers
  sumThread: SumThread
}): Receiver {
  const { blobs, local, hashers, sumThread } = deps
  const inLine: OpenSums = (algorithms) => sumInLine(hashers, algorithms)

  /** Sums the large bodies of paying requests on the thread, all others inline. */
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
    const body: ObjectBody = Buffer.isBuffer(stored)
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
  const checksums: JsonObject =
    checksum === undefined
      ? {}
      : { [checksum.algorithm]: checksum.value.toString('base64'), type: 'FULL_OBJECT' }
  return { etag: md5.toString('hex'), checksums, size: bytes }
}

/** The headers without the checksums of a body. */
const withoutSums = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^x-amz-(checksum|sdk-checksum)-/.test(name)),
  )

/** The bytes as received; the CPU of reading them is this request's. */
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
