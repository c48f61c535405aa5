// The body of a request, unread until an operation reads it. A client that waits for 100 Continue gets it then.
import type { Exchange } from '#http/exchange.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { VerifiedSignature, Seed } from '#s3/authentication/verify.ts'

export type Payload = {
  /** The signed parts of the body; fields are undefined without a signature. */
  readonly signed: { readonly payload: string | undefined; readonly seed: Seed | undefined }
  /** The bytes as received, with framing; can be read once. Throws the exchange's own end. */
  source(): AsyncIterable<Buffer>
}

export function createPayload(
  exchange: Exchange,
  verified: VerifiedSignature | undefined,
): Payload {
  const { request, response, signal } = exchange
  const header = request.headers['x-amz-content-sha256']
  return {
    signed: {
      payload: verified?.payload ?? (typeof header === 'string' ? header : undefined),
      seed: verified?.seed,
    },
    async *source() {
      if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
      const onAbort = () => request.destroy()
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        // Stopping early must not close the connection: the refusal is still to be written.
        for await (const chunk of request.iterator({ destroyOnReturn: false })) {
          if (signal.aborted) throw signal.reason
          yield chunk as Buffer
        }
      } catch (cause) {
        throw signal.aborted ? signal.reason : incomplete(cause)
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

/** The connection broke before the body was whole. */
function incomplete(cause: unknown): Error {
  const isReset = cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET'
  if (isReset) return storageFault('IncompleteBody')
  return cause instanceof Error ? cause : storageFault('IncompleteBody')
}
