// Blobs as objects of one bucket of any S3 store: `<prefix>/<xx>/<uuid>`, never a key of a user. The
// upstream needs PUT, GET by range, HEAD, DELETE, LIST and multipart; no versions, ACLs or lifecycle.
import { randomUUID } from 'node:crypto'
import { Readable, addAbortSignal } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { ErgonError, invariant, messageOf, present } from '#base/errors.ts'
import type { BlobRef, BlobStat, BlobStore, ByteRange, NewBlob, PutOptions } from './blob.ts'
import { createChecksum } from './checksum.ts'
import { blobDamaged, blobMissing, bodyTooLarge } from './faults.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Bodies beyond go up in parts of this size, two at a time: 32 MiB of memory for each put at most. */
const PART_SIZE = 16 * 1024 * 1024
const PARTS_AT_ONCE = 2

export type S3StoreOptions = {
  /** Made by whoever knows endpoint, region, credentials and time-outs. */
  readonly client: S3Client
  readonly bucket: string
  /** Without a slash at its end; empty for none. */
  readonly prefix: string
  readonly location: string
}

/** A store in an upstream bucket; it is durable when the upstream is. */
export function createS3Store(options: S3StoreOptions): BlobStore {
  const { client, bucket, location } = options
  const keyOf = (id: string) => keyIn(options, id)
  return {
    location,
    // How full an upstream is, it says itself, at each put.
    admit: async () => undefined,
    put: (body, given) => put(options, body, given),
    get: (ref, reading) => get(options, ref, reading),
    async delete({ id }, signal) {
      const command = new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(id) })
      await client.send(command, { abortSignal: signal }).catch(orMissing)
    },
    async stat(id, signal) {
      const command = new HeadObjectCommand({ Bucket: bucket, Key: keyOf(id) })
      const found = await client.send(command, { abortSignal: signal }).catch(orMissing)
      if (found === undefined) return undefined
      return toStat(id, found.ContentLength, found.LastModified)
    },
    list: (shard, signal) => list(options, shard, signal),
    // What the upstream acknowledged is its promise; each failure is one put's own.
    fenced: () => undefined,
  }
}

function keyIn({ prefix }: S3StoreOptions, id: string): string {
  invariant(ID.test(id), `a blob's id is a lower-case UUID: ${id}`)
  return `${folderOf(prefix, id.slice(0, 2))}${id}`
}
const folderOf = (prefix: string, shard: string) => `${prefix === '' ? '' : `${prefix}/`}${shard}/`

async function put(
  options: S3StoreOptions,
  body: AsyncIterable<Buffer>,
  { signal, sizeMax, id = randomUUID() }: PutOptions,
): Promise<NewBlob> {
  signal.throwIfAborted()
  const checksum = createChecksum()
  let size = 0
  // The client library wraps what the body throws; it is to be told as it was.
  let broken: { error: unknown } | undefined
  async function* counted() {
    try {
      for await (const chunk of body) {
        size += chunk.length
        if (size > sizeMax) throw bodyTooLarge(sizeMax)
        checksum.update(chunk)
        yield chunk
      }
    } catch (error) {
      broken = { error }
      throw error
    }
  }
  const upload = new Upload({
    client: options.client,
    params: {
      Bucket: options.bucket,
      Key: keyIn(options, id),
      Body: Readable.from(counted(), { objectMode: false }),
    },
    partSize: PART_SIZE,
    queueSize: PARTS_AT_ONCE,
  })
  const stop = () => void upload.abort()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await upload.done()
  } catch (error) {
    signal.throwIfAborted()
    throw broken === undefined ? upstreamError(error) : broken.error
  } finally {
    signal.removeEventListener('abort', stop)
  }
  return { location: options.location, id, size, checksum: checksum.text() }
}

async function get(
  options: S3StoreOptions,
  ref: BlobRef,
  { signal, range }: { signal: AbortSignal; range?: ByteRange },
): Promise<Readable> {
  if (ref.size === 0 || (range && range.last < range.first)) return Readable.from([])
  const command = new GetObjectCommand({
    Bucket: options.bucket,
    Key: keyIn(options, ref.id),
    ...(range && { Range: `bytes=${range.first}-${range.last}` }),
  })
  const found = await options.client.send(command, { abortSignal: signal }).catch(orMissing)
  if (found === undefined) throw blobMissing(ref.id)
  const wanted = range ? range.last - range.first + 1 : ref.size
  const stream = found.Body
  if (!(stream instanceof Readable)) throw blobDamaged(ref.id, 'it came without a stream')
  if (found.ContentLength !== wanted) {
    stream.destroy()
    throw blobDamaged(ref.id, `${found.ContentLength} bytes came, not ${wanted}`)
  }
  return addAbortSignal(signal, stream)
}

async function* list(
  { client, bucket, prefix }: S3StoreOptions,
  shard: string,
  signal: AbortSignal,
): AsyncGenerator<BlobStat> {
  const folder = folderOf(prefix, shard)
  let token: string | undefined
  do {
    const page = await client
      .send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: folder, ContinuationToken: token }),
        { abortSignal: signal },
      )
      .catch((error: unknown) => {
        throw upstreamError(error)
      })
    for (const { Key = '', Size, LastModified } of page.Contents ?? []) {
      const id = Key.slice(folder.length)
      if (ID.test(id)) yield toStat(id, Size, LastModified)
    }
    token = page.NextContinuationToken
  } while (token !== undefined)
}

const toStat = (id: string, size: number | undefined, at: Date | undefined): BlobStat => ({
  id,
  size: present(size, 'the upstream says a size'),
  writtenMs: present(at, 'the upstream says a time').getTime(),
})

/** For catch(): an object that is not there is none. */
function orMissing(error: unknown): undefined {
  if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404)
    return undefined
  throw upstreamError(error)
}

function upstreamError(error: unknown): unknown {
  if (error instanceof ErgonError || (error instanceof Error && error.name === 'AbortError'))
    return error
  const full = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 507
  return new ErgonError(
    full ? { code: 'storage_full', status: 507 } : { code: 'upstream_failed', status: 502 },
    `Could not reach the bytes: the upstream store failed: ${messageOf(error)}`,
    { cause: error },
  )
}
