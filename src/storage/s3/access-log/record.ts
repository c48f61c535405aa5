// From an answered request to its line in the log of its bucket. Only what reached the bucket is known to
// be about it: a request that was refused before (a wrong signature, no balance) leaves no line.
import type { Clock } from '#base/clock.ts'
import type { Exchange } from '#http/exchange.ts'
import type { Bucket, Version } from '#storage/objects/types.ts'
import { documentOf } from '#storage/s3/bucket-view.ts'
import type { Match } from '#storage/s3/match.ts'
import type { Target } from '#storage/s3/target.ts'
import type { AccessLog } from './access-log.ts'
import { accessLogLine, type LoggedRequest } from './line.ts'
import { loggedOperation } from './operation-name.ts'

/** What is found out about a request while it is handled. */
export type Trace = {
  bucket?: Bucket
  version?: Version
  /** Of whoever asks; absent for nobody. */
  account?: string
  requestId?: string
  authentication?: LoggedRequest['authentication']
  neededAcl?: boolean
}

type Traced = { readonly match: Match; readonly target: Target; readonly trace: Trace }

/** Watches a request from its beginning; its line is written when its answer has ended. */
export type Record = (exchange: Exchange, call: Traced) => void

export const createRecord =
  ({ accessLog, clock }: { accessLog: AccessLog; clock: Clock }): Record =>
  (exchange, { match, target, trace }) => {
    const { request, response } = exchange
    const timeMs = clock.wallMs()
    const fromMs = clock.monotonicMs()
    const address = request.socket.remoteAddress ?? '-'
    let receivedMs = fromMs
    const hasBody =
      request.headers['content-length'] !== undefined ||
      request.headers['transfer-encoding'] !== undefined
    if (hasBody) request.once('end', () => (receivedMs = clock.monotonicMs()))
    response.once('close', () => {
      const { bucket, version } = trace
      const logging = bucket && documentOf(bucket, 'logging')
      if (bucket === undefined || logging === undefined || !response.headersSent) return
      const { answered } = exchange
      const line = accessLogLine({
        bucketOwner: bucket.account,
        bucket: bucket.name,
        timeMs,
        address,
        requester: trace.account,
        requestId: trace.requestId ?? '-',
        hostId: trace.requestId ?? '-',
        operation: loggedOperation(match.operation),
        key: target.key,
        method: exchange.method,
        target: request.url ?? '/',
        status: response.statusCode,
        errorCode: answered.errorCode,
        sent: answered.bodyBytes,
        objectSize: version?.size,
        totalMs: clock.monotonicMs() - fromMs,
        turnaroundMs: Math.max(answered.headMs - receivedMs, 0),
        referer: request.headers.referer,
        userAgent: request.headers['user-agent'],
        versionId: target.query.get('versionId'),
        authentication: trace.authentication,
        host: request.headers.host ?? '',
        tlsVersion: undefined,
        cipherSuite: undefined,
        neededAcl: trace.neededAcl ?? false,
      })
      accessLog.add({ bucket, logging, line, timeMs })
    })
  }
