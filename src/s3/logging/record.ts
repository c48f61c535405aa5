// Writes the access log lines of an answered request: one, and one for each key of a batch. A request that was
// refused before its bucket was looked up has a line too; its bucket is looked up then.
import type { Clock } from '#base/clock.ts'
import type { RemoteClient } from '#http/client-of.ts'
import type { Exchange } from '#http/exchange.ts'
import type { StorageCode } from '#contract/storage/storage-errors.ts'
import type { Bucket, Version } from '#objects/types.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { S3OperationName } from '#contract/storage/s3-operations.ts'
import { codeOf } from '#s3/render-error.ts'
import type { S3Target } from '#s3/target.ts'
import type { AccessLog } from './access-log.ts'
import type { Signing } from '#s3/authentication/credential.ts'
import { accessLogLine, type LoggedRequest } from './line.ts'
import type { LoggedBucket, LoggedBuckets } from './logged-buckets.ts'
import { loggedOperation } from './operation-name.ts'

/** Facts about a request, collected while it is read and handled. */
export type Trace = {
  readonly client: RemoteClient
  /** The bucket name in the address; the bucket may not exist. */
  readonly bucketName: string | undefined
  target?: S3Target
  operation?: S3OperationName
  bucket?: Bucket
  version?: Version
  /** The caller's account; absent for anonymous and unverified callers. */
  account?: string
  /** The signing; absent for bearer tokens and anonymous requests. */
  signing?: Signing
  neededAcl?: boolean
  /** The keys of a batch with their results. */
  batch?: readonly BatchKey[]
}

export type BatchKey = {
  readonly key: string
  readonly versionId?: string
  /** The error; absent for a deleted key. */
  readonly code?: string
  readonly status: number
}

/** Observes a request from its start; writes its lines when the reply has ended. */
export type RecordAccess = (exchange: Exchange, trace: Trace) => void

type Deps = {
  readonly accessLog: AccessLog
  readonly loggedBuckets: LoggedBuckets
  readonly clock: Clock
  /** Called when lines are written: their CPU is the operator's. */
  readonly mark: () => void
}

/** The facts of a line, except for its bucket. */
type Facts = Omit<LoggedRequest, 'bucketOwner' | 'bucket'>

export const createRecord = (deps: Deps): RecordAccess => {
  const { accessLog, loggedBuckets, clock, mark } = deps

  function write({ bucket, logging }: LoggedBucket, facts: Facts, trace: Trace): void {
    const of = { bucketOwner: bucket.account, bucket: bucket.name }
    const { timeMs, errorCode } = facts
    const isRefused = trace.bucket === undefined || isRefusal(errorCode)
    accessLog.add({ bucket, logging, timeMs, isRefused, line: accessLogLine({ ...facts, ...of }) })
    for (const one of trace.batch ?? []) {
      const line = accessLogLine({ ...facts, ...of, ...batchFacts(one) })
      accessLog.add({ bucket, logging, timeMs, isRefused: isRefusal(one.code), line })
    }
    mark()
  }

  async function writeLater(name: string, facts: Facts, trace: Trace): Promise<void> {
    const found = await loggedBuckets.find(name)
    if (found !== undefined) write(found, facts, trace)
  }

  return (exchange, trace) => {
    const { request, response, answered } = exchange
    const startedMs = { wall: clock.wallMs(), monotonic: clock.monotonicMs() }
    const address = trace.client.address || '-'
    let receivedMs = startedMs.monotonic
    const hasBody =
      request.headers['content-length'] !== undefined ||
      request.headers['transfer-encoding'] !== undefined
    if (hasBody) request.once('end', () => (receivedMs = clock.monotonicMs()))
    response.once('close', () => {
      if (!response.headersSent) return
      const { bucket, bucketName } = trace
      const facts = () => ({
        ...factsOf(exchange, trace),
        address,
        timeMs: startedMs.wall,
        totalMs: clock.monotonicMs() - startedMs.monotonic,
        turnaroundMs: Math.max(answered.headMs - receivedMs, 0),
      })
      if (bucket !== undefined) {
        const logging = documentOf(bucket, 'logging')
        if (logging !== undefined) write({ bucket, logging }, facts(), trace)
      } else if (bucketName !== undefined && isUnseen(answered.errorCode))
        accessLog.expect(writeLater(bucketName, facts(), trace))
    })
  }
}

/** Errors of callers without access. */
const REFUSALS: ReadonlySet<string> = new Set<StorageCode>([
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
])
const isRefusal = (code: string | undefined): boolean => code !== undefined && REFUSALS.has(code)

/** True when the request was refused before its bucket was looked up. */
const isUnseen = (errorCode: string | undefined): boolean =>
  errorCode !== undefined && errorCode !== 'NoSuchBucket'

type FactsOfTime = Pick<Facts, 'address' | 'timeMs' | 'totalMs' | 'turnaroundMs'>

function factsOf(exchange: Exchange, trace: Trace): Omit<Facts, keyof FactsOfTime> {
  const { request, response, answered, requestId, method } = exchange
  const { target, operation, account, version, signing } = trace
  const key = target?.key
  return {
    requester: account,
    requestId,
    hostId: requestId,
    operation:
      operation === undefined
        ? `REST.${method}.${key === undefined ? 'BUCKET' : 'OBJECT'}`
        : loggedOperation(operation),
    key,
    method,
    target: request.url ?? '/',
    status: response.statusCode,
    errorCode: answered.errorCode && codeOf({ code: answered.errorCode }),
    sent: answered.bodyBytes,
    objectSize: version?.size,
    referer: request.headers.referer,
    userAgent: request.headers['user-agent'],
    versionId: target?.query.get('versionId'),
    signing,
    host: request.headers.host ?? '',
    tlsVersion: undefined,
    cipherSuite: undefined,
    neededAcl: trace.neededAcl ?? false,
  }
}

/** The fields of a key's line that differ from the batch's: the key had no request of its own. */
const batchFacts = ({ key, versionId, code, status }: BatchKey): Partial<Facts> => ({
  operation: 'BATCH.DELETE.OBJECT',
  key,
  versionId,
  status,
  errorCode: code,
  target: undefined,
  sent: 0,
})
