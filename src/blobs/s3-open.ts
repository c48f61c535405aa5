// An upstream store by its address: the client with its time-outs, and the mark that says whose it is.
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { BlobStore } from './blob.ts'
import { ASK_MS, createS3Store, isRefusal, errorName, httpStatusOf } from './s3-store.ts'

const CONNECT_MS = 3000
/** A part of 8 MiB at half a megabyte a second, and its acknowledgement. */
const PUT_MS = 20_000
/** A connection that was closed while it lay idle is not told to a client; a store that is away soon is. */
const ATTEMPTS = 2
/** An error that the client library does not know, and so does not try again for. */
const SILENT = 'StoreTimeout'
const BROKEN = new Set(['ECONNRESET', 'EPIPE'])
const SOCKETS = 256
const OWNER = 'ergon-owner'

/** Address and key of an upstream store. */
export type S3Settings = {
  /** Absent: AWS in the region. */
  readonly endpoint?: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** The store of an address. Nothing is asked of it yet. */
export function openS3Store(location: string, settings: S3Settings, log: Logger): BlobStore {
  return createS3Store({ client: createS3Client(settings), ...placeOf(location), location, log })
}

export type StoreClaim = {
  /** The id of the state. */
  readonly owner: string
  /** Blobs are there already: a place without a mark is another one. */
  readonly isUsed: boolean
  readonly signal: AbortSignal
}

/**
 * Makes sure that the store answers, may be read and written, and is nobody else's: two installations in
 * one place would remove each other's blobs as orphans. Throws `blob_store_away` (it may come back) or
 * `blob_store_refused` (it will not: key, bucket, owner).
 */
export async function claimS3Store(
  location: string,
  settings: S3Settings,
  claim: StoreClaim,
): Promise<void> {
  const client = createS3Client(settings)
  try {
    const owner = await ownerOf(client, location, claim)
    if (owner !== claim.owner)
      throw refused(location, `it belongs to another installation: ${owner.slice(0, 64)}`)
  } catch (error) {
    if (error instanceof ErgonError) throw error
    claim.signal.throwIfAborted()
    const reason = `${errorName(error)}: ${messageOf(error)}`
    throw isRefusal(error) ? refused(location, reason) : away(location, reason)
  } finally {
    client.destroy()
  }
}

/** The installation that claimed the bucket and prefix: the claimant, when there was no claim. */
async function ownerOf(
  client: S3Client,
  location: string,
  { owner, isUsed, signal }: StoreClaim,
): Promise<string> {
  const { bucket, prefix } = placeOf(location)
  const place = { Bucket: bucket, Key: prefix === '' ? OWNER : `${prefix}/${OWNER}` }
  const options = { abortSignal: signal, requestTimeout: ASK_MS }
  const read = async () => {
    const found = await client.send(new GetObjectCommand(place), options)
    return (await found.Body?.transformToString()) ?? ''
  }
  try {
    return await read()
  } catch (error) {
    if (errorName(error) !== 'NoSuchKey') throw error
    if (isUsed) throw refused(location, 'objects are in it, and it has no mark of its owner')
  }
  try {
    const mark = { ...place, Body: owner, ContentType: 'text/plain', IfNoneMatch: '*' }
    await client.send(new PutObjectCommand(mark), options)
  } catch (error) {
    if (httpStatusOf(error) !== 412) throw error
  }
  return await read()
}

/**
 * The client of a store. A request that failed quickly is tried once more. A store that was silent for the whole time
 * is silent the second time too: a frozen store kept each write for 40 s.
 */
export function createS3Client(
  { endpoint, region, ...credentials }: S3Settings,
  putMs = PUT_MS,
): S3Client {
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    credentials,
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: putMs,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: SOCKETS, keepAlive: true },
      httpsAgent: { maxSockets: SOCKETS, keepAlive: true },
    },
  })
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        if (!isSilence(error)) throw error
        // Neither its code nor a cause may stay: both are looked at.
        throw new DOMException(messageOf(error), SILENT)
      }
    },
    { step: 'deserialize', name: 'silentOnce' },
  )
  return client
}

/** A time-out: the client library calls a connection that was reset by the same name. */
const isSilence = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'TimeoutError' &&
  !('code' in error && BROKEN.has(String(error.code)))

/** `s3://bucket/a/prefix`, as the settings have checked it. */
function placeOf(location: string): { bucket: string; prefix: string } {
  const [bucket = '', ...prefix] = location.slice('s3://'.length).split('/')
  return { bucket, prefix: prefix.join('/') }
}

const refused = (location: string, reason: string) =>
  fault('blob_store_refused', `Could not use the blob store ${location}: ${reason}`)

const away = (location: string, reason: string) =>
  fault('blob_store_away', `Could not reach the blob store ${location}: ${reason}`)
