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
import type { Logger } from '#base/log.ts'
import type { BlobStat, BlobStore, ByteRange, NewBlob, PutOptions } from './blob.ts'
import { checkableRange, createChecksum } from './checksum.ts'
import {
  blobDamaged,
  blobMissing,
  bodyTooLarge,
  storageAway,
  storageFull,
  tooManyPuts,
} from './faults.ts'
import { unstalled } from './s3-stall.ts'
import { verified } from './verified.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Bodies beyond go up in parts of this size, two at a time while a third gathers: 24 MiB of memory. */
const PART_SIZE = 8 * 1024 * 1024
const PARTS_AT_ONCE = 2
/** 1.5 GiB of such memory at most; requests beyond it get SlowDown. */
const PUTS_MAX = 64
/** The longest wait for the begin of an answer, writes excepted. */
export const ASK_MS = 6000

export type S3StoreOptions = {
  /** The client, with endpoint, region, credentials and timeouts set. */
  readonly client: S3Client
  readonly bucket: string
  /** The prefix has no slash at its end, and is empty for none. */
  readonly prefix: string
  readonly location: string
  readonly log: Logger
}

/** The options, and the meaning of the client's errors. */
type OpenS3Store = S3StoreOptions & Away & { puts: number }

/** A store in an upstream bucket; it is durable when the upstream is. */
export function createS3Store(options: S3StoreOptions): BlobStore {
  const { client, bucket, location } = options
  const store: OpenS3Store = { ...options, ...createAway(options), puts: 0 }
  const keyOf = (id: string) => keyIn(options, id)
  return {
    location,
    // The upstream refuses a put when it is full.
    admit: async () => undefined,
    async put(body, given) {
      if (store.puts === PUTS_MAX) throw tooManyPuts()
      store.puts++
      return await put(store, body, given).finally(() => store.puts--)
    },
    get: (blob, reading) => get(store, blob, reading),
    async delete({ id }, signal) {
      const command = new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(id) })
      await store.asked(client.send(command, asking(signal)))
    },
    async stat(id, signal) {
      const command = new HeadObjectCommand({ Bucket: bucket, Key: keyOf(id) })
      const found = await store.asked(client.send(command, asking(signal)))
      if (found === undefined) return undefined
      return toStat(id, found.ContentLength, found.LastModified)
    },
    list: (shard, signal) => list(store, shard, signal),
    // An acknowledged put is the upstream's responsibility; a failure concerns one put only.
    fenced: () => undefined,
  }
}

function keyIn({ prefix }: S3StoreOptions, id: string): string {
  invariant(ID.test(id), `a blob's id is a lower-case UUID: ${id}`)
  return `${folderOf(prefix, id.slice(0, 2))}${id}`
}
const folderOf = (prefix: string, shard: string) => `${prefix === '' ? '' : `${prefix}/`}${shard}/`

const probe = ({ bucket, prefix }: S3StoreOptions) =>
  new ListObjectsV2Command({ Bucket: bucket, Prefix: folderOf(prefix, '00'), MaxKeys: 1 })

const asking = (signal: AbortSignal) => ({ abortSignal: signal, requestTimeout: ASK_MS })

async function put(
  options: OpenS3Store,
  body: AsyncIterable<Buffer>,
  { signal, sizeMax, id = randomUUID() }: PutOptions,
): Promise<NewBlob> {
  signal.throwIfAborted()
  // Asked before a long upload, which would find only at its end that the store is away.
  if (options.isAway()) await options.asked(options.client.send(probe(options), asking(signal)))
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
    options.answered()
  } catch (error) {
    signal.throwIfAborted()
    throw broken === undefined ? options.clientError(error) : broken.error
  } finally {
    signal.removeEventListener('abort', stop)
  }
  return { location: options.location, id, size, checksum: checksum.text() }
}

async function get(
  options: OpenS3Store,
  blob: NewBlob,
  { signal, range }: { signal: AbortSignal; range?: ByteRange },
): Promise<Readable> {
  const wanted = range ?? { first: 0, last: blob.size - 1 }
  if (wanted.last < wanted.first) return Readable.from([])
  const checkable = checkableRange(blob, wanted)
  const stream = await open(options, blob, checkable ?? wanted, signal)
  if (checkable === undefined) return stream
  const chunks = verified(stream, blob, { from: checkable.first, range: wanted })
  const checked = Readable.from(chunks, { objectMode: false })
  // Destroyed before it is read, the generator would never begin, and never end its source.
  stream.on('error', () => undefined)
  checked.once('close', () => stream.destroy())
  return checked
}

async function open(
  options: OpenS3Store,
  blob: NewBlob,
  { first, last }: ByteRange,
  signal: AbortSignal,
): Promise<Readable> {
  const wanted = last - first + 1
  const command = new GetObjectCommand({
    Bucket: options.bucket,
    Key: keyIn(options, blob.id),
    ...(wanted < blob.size && { Range: `bytes=${first}-${last}` }),
  })
  const found = await options.asked(options.client.send(command, asking(signal)))
  if (found === undefined) throw blobMissing(blob.id)
  const stream = found.Body
  if (!(stream instanceof Readable)) throw blobDamaged(blob.id, 'it came without a stream')
  if (found.ContentLength !== wanted) {
    stream.destroy()
    throw blobDamaged(blob.id, `${found.ContentLength} bytes came, not ${wanted}`)
  }
  addAbortSignal(signal, stream)
  return unstalled(stream, options.clientError)
}

async function* list(
  { client, bucket, prefix, clientError }: OpenS3Store,
  shard: string,
  signal: AbortSignal,
): AsyncGenerator<BlobStat> {
  const folder = folderOf(prefix, shard)
  let token: string | undefined
  do {
    const page = await client
      .send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: folder, ContinuationToken: token }),
        asking(signal),
      )
      .catch((error: unknown) => {
        throw clientError(error)
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

type Away = {
  /** True when the last call failed. */
  isAway(): boolean
  /** The answer, or undefined when there is no such object; throws what clientError() gives. */
  asked<T>(answer: Promise<T>): Promise<T | undefined>
  answered(): void
  /** The error as clients get it. The upstream's own words are for the log alone. */
  clientError(error: unknown): unknown
}

/** Says once that the store went away, and once that it is back. */
function createAway({ location, log }: Pick<S3StoreOptions, 'location' | 'log'>): Away {
  let isAway = false
  const away: Away = {
    isAway: () => isAway,
    async asked(answer) {
      try {
        const found = await answer
        away.answered()
        return found
      } catch (error) {
        // A missing bucket may be a wrong setting, so it proves no loss of a blob.
        if (httpStatusOf(error) === 404 && errorName(error) !== 'NoSuchBucket') return undefined
        throw away.clientError(error)
      }
    },
    answered() {
      if (isAway) log.warn('A blob store answers again', { location })
      isAway = false
    },
    clientError(error) {
      if (error instanceof ErgonError || errorName(error) === 'AbortError') return error
      if (httpStatusOf(error) === 507) return storageFull(error)
      if (!isAway)
        log.error('A blob store does not answer as it should', {
          location,
          error: `${errorName(error)}: ${messageOf(error)}`,
        })
      isAway = true
      return storageAway(error)
    },
  }
  return away
}

export const errorName = (error: unknown): string => (error instanceof Error ? error.name : '')
export const httpStatusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
/** An answer that will be the same next time. */
export function isRefusal(error: unknown): boolean {
  const status = httpStatusOf(error)
  return status !== undefined && status < 500 && status !== 429 && status !== 408
}
