// The S3 connection of one command: a client for the base address with the token as both keys, a signal, and the sum of
// the answers' costs. The signal aborts with Ctrl-C (or SIGTERM, SIGHUP) or with the first failure.
import { S3Client } from '@aws-sdk/client-s3'
import { baseUrlOf, tokenOf } from '#cli/profile.ts'
import type { CommandCall } from '#cli/call.ts'
import { explained, type BucketCalls } from './explain.ts'
import { nearBucket } from './near-bucket.ts'
import { onSignals } from './signals.ts'
import { createTally, type Tally } from './tally.ts'

export type TransferSession = {
  readonly s3: S3Client
  readonly tally: Tally
  readonly signal: AbortSignal
  /** Ends all other work of this command; the first reason is reported. */
  readonly stop: (reason: unknown) => void
}

const CONNECT_MS = 10_000
// A part of 8 MiB is synced to disk before it is answered; a slow disk may take its time.
const SILENCE_MS = 120_000

/**
 * Runs a command's work; whatever it throws becomes a CommandError, whose next step names the buckets.
 * After Ctrl-C, SIGTERM or SIGHUP it ends in order; a second one ends the program at once.
 */
export async function withSession<T>(
  options: CommandCall['options'],
  buckets: BucketCalls,
  work: (session: TransferSession) => Promise<T>,
): Promise<T> {
  const service = baseUrlOf(options)
  const tally = createTally()
  const s3 = clientOf(service, tokenOf(options), tally)
  const stopping = new AbortController()
  const stop = (reason: unknown) => stopping.abort(reason)
  const ignoreSignals = onSignals(stop)
  try {
    return await work({ s3, tally, signal: stopping.signal, stop })
  } catch (error) {
    const reason: unknown = stopping.signal.aborted ? stopping.signal.reason : error
    const meant = await nearBucket(s3, reason, buckets.bucket)
    throw explained(reason, options, { ...buckets, meant })
  } finally {
    ignoreSignals()
    s3.destroy()
  }
}

function clientOf(endpoint: string, token: string, tally: Tally): S3Client {
  const s3 = new S3Client({
    endpoint,
    region: 'local',
    forcePathStyle: true,
    credentials: { accessKeyId: token, secretAccessKey: token },
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
  })
  // Beneath the retries and the reading of the answer: refusals and repeated requests cost too.
  s3.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      tally.count((result.response as { headers: Record<string, string> }).headers)
      return result
    },
    { step: 'deserialize', priority: 'low', name: 'ergonTally' },
  )
  return s3
}
