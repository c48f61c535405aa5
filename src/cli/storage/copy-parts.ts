// Copies an object that is too large for one request: the service copies ranges of the object into the parts of an
// upload. Headers, metadata, tags and annotations, which CopyObject copies by itself, are copied here. A failure
// leaves no open upload.
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { copyAnnotations } from './annotations.ts'
import { abortUpload, type OpenUpload } from './open-uploads.ts'
import type { ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'

// S3 has no more, so of 5 TiB each has 525 MiB.
const MOST_PARTS = 10_000

export type PartsCopy = {
  readonly from: ObjectPlace
  readonly to: ObjectPlace
  readonly partBytes: number
  /** Parts at once. */
  readonly lanes: number
  readonly moved: (bytes: number) => void
}

type Source = ObjectPlace & { readonly head: HeadObjectCommandOutput; readonly size: number }

/** Copies one object. Throws what the service answers, PreconditionFailed when the source changes meanwhile. */
export async function copyInParts(session: TransferSession, copy: PartsCopy): Promise<void> {
  const { s3, signal } = session
  const { from, to } = copy
  const asked = new HeadObjectCommand({ Bucket: from.bucket, Key: from.key })
  const head = await s3.send(asked, { abortSignal: signal })
  const source = { ...from, head, size: head.ContentLength ?? 0 }
  const target = await begin(session, source, to)
  try {
    signal.throwIfAborted()
    const parts = await copyParts(session, { ...copy, source, target })
    const whole = new CompleteMultipartUploadCommand({
      ...target,
      MultipartUpload: { Parts: parts },
    })
    await s3.send(whole, { abortSignal: signal })
  } catch (error) {
    await abortUpload(session, target)
    throw error
  }
  await copyAnnotations(session, { ...from, versionId: head.VersionId }, to)
}

/** The reference to a source as a header has it; one version of it where the bucket keeps versions. */
export function copySourceOf({ bucket, key }: ObjectPlace, versionId?: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/')
  return `${bucket}/${path}${versionId === undefined ? '' : `?versionId=${versionId}`}`
}

async function begin(
  session: TransferSession,
  source: Source,
  to: ObjectPlace,
): Promise<OpenUpload> {
  const { head } = source
  const place = { Bucket: to.bucket, Key: to.key }
  const asked = new CreateMultipartUploadCommand({
    ...place,
    CacheControl: head.CacheControl,
    ContentDisposition: head.ContentDisposition,
    ContentEncoding: head.ContentEncoding,
    ContentLanguage: head.ContentLanguage,
    ContentType: head.ContentType,
    Expires: head.Expires,
    Metadata: head.Metadata,
    Tagging: await taggingOf(session, source),
  })
  // The call has no signal: an upload whose id is unknown cannot be aborted.
  const { UploadId } = await session.s3.send(asked)
  if (UploadId === undefined) throw new TypeError('the service began an upload without an id')
  return { ...place, UploadId }
}

/** The tags as a header has them; they are asked for where there are some. */
async function taggingOf(
  { s3, signal }: TransferSession,
  { bucket, key, head }: Source,
): Promise<string | undefined> {
  if ((head.TagCount ?? 0) === 0) return undefined
  const asked = new GetObjectTaggingCommand({ Bucket: bucket, Key: key, VersionId: head.VersionId })
  const { TagSet = [] } = await s3.send(asked, { abortSignal: signal })
  const tags = new URLSearchParams()
  for (const { Key = '', Value = '' } of TagSet) tags.append(Key, Value)
  return tags.toString()
}

type CopiedParts = Omit<PartsCopy, 'from' | 'to'> & {
  readonly source: Source
  readonly target: OpenUpload
}

/** Copies a few parts at once; the first that fails ends the others, and none runs on when it throws. */
async function copyParts(session: TransferSession, parts: CopiedParts): Promise<CompletedPart[]> {
  const { source, target, lanes, moved } = parts
  const stopping = new AbortController()
  const abortSignal = AbortSignal.any([session.signal, stopping.signal])
  const queue = rangesOf(source.size, parts.partBytes).entries()
  const done: CompletedPart[] = []
  const lane = async (): Promise<void> => {
    for (const [at, { first, last }] of queue) {
      const asked = new UploadPartCopyCommand({
        ...target,
        PartNumber: at + 1,
        CopySource: copySourceOf(source, source.head.VersionId),
        CopySourceIfMatch: source.head.ETag,
        CopySourceRange: `bytes=${first}-${last}`,
      })
      const { CopyPartResult } = await session.s3.send(asked, { abortSignal })
      done.push({ PartNumber: at + 1, ETag: CopyPartResult?.ETag })
      moved(last - first + 1)
    }
  }
  const stop = (reason: unknown) => stopping.abort(reason)
  await Promise.all(Array.from({ length: lanes }, () => lane().catch(stop)))
  stopping.signal.throwIfAborted()
  return done.toSorted((one, other) => (one.PartNumber ?? 0) - (other.PartNumber ?? 0))
}

type Range = { readonly first: number; readonly last: number }

/** Ranges of `partBytes` or more, so that there are no more than S3 takes; the last has the rest. */
export function rangesOf(size: number, partBytes: number): Range[] {
  const bytes = Math.max(partBytes, Math.ceil(size / MOST_PARTS))
  return Array.from({ length: Math.ceil(size / bytes) }, (_, at) => ({
    first: at * bytes,
    last: Math.min(size, (at + 1) * bytes) - 1,
  }))
}
