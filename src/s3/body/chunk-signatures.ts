// Signatures of chunks, each over its data and the signature before it (AWS, "Signature calculations
// for the authorization header: transferring payload in multiple chunks").
import { createHash, hash, type Hash } from 'node:crypto'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { sameSignature } from '#s3/authentication/same-signature.ts'
import { sign, type Seed } from '#s3/authentication/verify.ts'

const SHA256_OF_NOTHING = hash('sha256', '', 'hex')

export type Chain = {
  open(signature: string): void
  update(data: Buffer): void
  /** Throws SignatureDoesNotMatch. */
  close(): void
  /** Checks the signature over the trailers, `name:value\n` each. Throws SignatureDoesNotMatch. */
  closeTrailers(canonical: string, signature: string): void
}

/** The chain that starts at the signature of the request. */
export function createChain({ signingKey, timestamp, scope, signature: seed }: Seed): Chain {
  let previous = seed
  let claimed = ''
  let digest: Hash | undefined
  const check = (text: string, given: string): void => {
    const expected = sign(signingKey, text)
    if (!sameSignature(given, expected)) throw storageFault('SignatureDoesNotMatch')
    previous = expected
  }
  const head = (kind: string) => `AWS4-HMAC-SHA256-${kind}\n${timestamp}\n${scope}\n${previous}\n`
  return {
    open(signature) {
      claimed = signature
      digest = undefined
    },
    update(data) {
      digest ??= createHash('sha256')
      digest.update(data)
    },
    close() {
      const data = digest?.digest('hex') ?? SHA256_OF_NOTHING
      check(`${head('PAYLOAD')}${SHA256_OF_NOTHING}\n${data}`, claimed)
    },
    closeTrailers(canonical, signature) {
      check(`${head('TRAILER')}${hash('sha256', canonical, 'hex')}`, signature)
    },
  }
}
