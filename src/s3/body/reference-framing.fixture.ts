// Test support: writes aws-chunked bodies from the pages of AWS, apart from the code under test.
import { createHmac, hash } from 'node:crypto'
import { present } from '#base/errors.ts'
import type { Seed } from '#s3/authentication/verify.ts'

export const SEED: Seed = {
  signingKey: Buffer.alloc(32, 7),
  timestamp: '20261121T093000Z',
  scope: '20261121/local/s3/aws4_request',
  signature: 'ab'.repeat(32),
}

type Frames = {
  readonly chunks: readonly Buffer[]
  readonly seed?: Seed
  /** `name:value` */
  readonly trailer?: string
  readonly signTrailer?: boolean
}

/** The framed body. */
export function frame({ chunks, seed, trailer, signTrailer = false }: Frames): Buffer {
  const out: Buffer[] = []
  let previous = seed?.signature ?? ''
  const signed = (kind: string, ...lines: string[]): string => {
    const { timestamp, scope, signingKey } = present(seed, 'A seed')
    const head = [`AWS4-HMAC-SHA256-${kind}`, timestamp, scope, previous]
    previous = createHmac('sha256', signingKey)
      .update([...head, ...lines].join('\n'))
      .digest('hex')
    return previous
  }
  for (const chunk of [...chunks, Buffer.alloc(0)]) {
    const extension =
      seed === undefined
        ? ''
        : `;chunk-signature=${signed('PAYLOAD', hash('sha256', ''), hash('sha256', chunk))}`
    out.push(Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk)
    if (chunk.length > 0) out.push(Buffer.from('\r\n'))
  }
  if (trailer !== undefined) out.push(Buffer.from(`${trailer}\r\n`))
  if (signTrailer)
    out.push(
      Buffer.from(
        `x-amz-trailer-signature:${signed('TRAILER', hash('sha256', `${trailer}\n`))}\r\n`,
      ),
    )
  out.push(Buffer.from('\r\n'))
  return Buffer.concat(out)
}
