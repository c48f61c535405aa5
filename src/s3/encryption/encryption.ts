// Encryption in the S3 protocol: the default of a bucket, the headers of requests and of replies. Three kinds: SSE-S3
// (the service's key), SSE-KMS (a named key of the service), SSE-C (the client's key, which is never stored). AWS,
// "Protecting data with server-side encryption".
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { CustomerKey, Encryption } from '#objects/encryption/encryption.ts'
import { xmlBoolean, xmlFields, optionalText, wordOf } from '#s3/xml/fields.ts'
import { parseXml } from '#s3/xml/read.ts'
import { writeXml } from '#s3/xml/write.ts'

/** The default encryption of a bucket. */
export type BucketEncryption =
  | { readonly kind: 'SSE-S3'; readonly bucketKey: boolean }
  | { readonly kind: 'SSE-KMS'; readonly keyId: string; readonly bucketKey: boolean }

/** SSE-S3: the default of new buckets if the operator chose one. */
export const BY_SERVICE: BucketEncryption = { kind: 'SSE-S3', bucketKey: false }

export type EncryptionPolicy = {
  /** True when there is a key of this name. */
  readonly hasKey: (keyId: string) => boolean
  /** True when the connection may carry keys: TLS or loopback. */
  readonly mayCarryKeys: boolean
}

/** Reads a `ServerSideEncryptionConfiguration`. Throws MalformedXML, InvalidArgument. */
export function parseBucketEncryption(body: Buffer): BucketEncryption {
  const { Rule } = xmlFields(parseXml(body, 'ServerSideEncryptionConfiguration'), { Rule: 'one' })
  const { ApplyServerSideEncryptionByDefault: wanted, BucketKeyEnabled } = xmlFields(Rule, {
    ApplyServerSideEncryptionByDefault: 'one',
    BucketKeyEnabled: 'optional',
  })
  const { SSEAlgorithm, KMSMasterKeyID } = xmlFields(wanted, {
    SSEAlgorithm: 'one',
    KMSMasterKeyID: 'optional',
  })
  const bucketKey = BucketKeyEnabled !== undefined && xmlBoolean(BucketKeyEnabled)
  const keyId = optionalText(KMSMasterKeyID)?.trim() ?? ''
  const algorithm = wordOf(SSEAlgorithm, ['AES256', 'aws:kms', 'aws:kms:dsse'])
  if (algorithm === 'aws:kms:dsse') throw noDoubleEncryption()
  if (algorithm === 'aws:kms') {
    if (keyId === '') throw noKeyId()
    return { kind: 'SSE-KMS', keyId, bucketKey }
  }
  if (keyId !== '')
    throw argument('a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms')
  return { kind: 'SSE-S3', bucketKey }
}

export const printBucketEncryption = (encryption: BucketEncryption): string =>
  writeXml('ServerSideEncryptionConfiguration', [
    [
      'Rule',
      [
        [
          'ApplyServerSideEncryptionByDefault',
          [
            ['SSEAlgorithm', encryption.kind === 'SSE-S3' ? 'AES256' : 'aws:kms'],
            ['KMSMasterKeyID', encryption.kind === 'SSE-S3' ? undefined : encryption.keyId],
          ],
        ],
        ['BucketKeyEnabled', encryption.bucketKey],
      ],
    ],
  ])

const SSE = 'x-amz-server-side-encryption'

const noDoubleEncryption = () =>
  storageFault('NotImplemented', 'Encryption in two layers (aws:kms:dsse) is not implemented')

/**
 * The encryption of a write: of the request, otherwise the bucket's default; undefined is none. Throws
 * InvalidArgument (contradicting headers, a wrong MD5), InvalidRequest, NotImplemented (DSSE),
 * InvalidEncryptionAlgorithmError, KMS.NotFoundException.
 */
export function encryptionOfWrite(
  headers: IncomingHttpHeaders,
  bucket: BucketEncryption | undefined,
  policy: EncryptionPolicy,
): { encryption: Encryption; customerKey?: CustomerKey } | undefined {
  const algorithm = headers[SSE]
  const keyId = headers[`${SSE}-aws-kms-key-id`]
  const customerKey = parseCustomerKey(headers, policy)
  if (customerKey !== undefined) {
    if (algorithm !== undefined || keyId !== undefined)
      throw argument(
        'Server Side Encryption with Customer provided key is incompatible with the encryption method specified',
      )
    return { encryption: { kind: 'SSE-C', keyMd5: customerKey.keyMd5 }, customerKey }
  }
  if (algorithm === undefined && keyId === undefined) return defaultOf(bucket, policy)
  if (algorithm === 'aws:kms:dsse') throw noDoubleEncryption()
  if (algorithm === 'aws:kms') {
    if (typeof keyId !== 'string' || keyId === '') throw noKeyId()
    return { encryption: named(keyId, parseContext(headers), policy) }
  }
  if (keyId !== undefined)
    throw argument(
      `Server Side Encryption with AWS KMS managed key requires HTTP header ${SSE} : aws:kms`,
    )
  if (algorithm !== 'AES256') throw argument('The encryption method specified is not supported')
  return { encryption: { kind: 'SSE-S3' } }
}

function defaultOf(bucket: BucketEncryption | undefined, policy: EncryptionPolicy) {
  if (bucket === undefined) return undefined
  if (bucket.kind === 'SSE-S3') return { encryption: { kind: 'SSE-S3' } as const }
  return { encryption: named(bucket.keyId, undefined, policy) }
}

function named(
  keyId: string,
  context: string | undefined,
  { hasKey }: EncryptionPolicy,
): Encryption {
  if (!hasKey(keyId)) throw storageFault('KMS.NotFoundException')
  return { kind: 'SSE-KMS', keyId, ...(context === undefined ? {} : { context }) }
}

/** Base64 of a JSON object, stored as sent: unwrapping the key needs the same text. */
function parseContext(headers: IncomingHttpHeaders): string | undefined {
  const context = headers[`${SSE}-context`]
  if (typeof context !== 'string') return undefined
  try {
    const found: unknown = JSON.parse(Buffer.from(context, 'base64').toString())
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return context
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw argument(`The header ${SSE}-context shall be Base64-encoded UTF-8 string holding JSON`)
}

const KEY_ARN = /^arn:aws[-a-z0-9]*:kms:[-a-z0-9]*:[0-9]*:key\/(.+)$/

/**
 * The named key of an `ObjectEncryption`: its name, or an ARN that ends with it. Throws MalformedXML, InvalidRequest
 * (anything but SSE-KMS), KMS.NotFoundException.
 */
export function parseObjectEncryption(body: Buffer, { hasKey }: Pick<EncryptionPolicy, 'hasKey'>) {
  const root = parseXml(body, 'ObjectEncryption')
  if (root.children.length !== 1 || root.children[0]?.name !== 'SSE-KMS')
    throw storageFault(
      'InvalidRequest',
      'Requests that modify an object encryption configuration require a valid new encryption type. Valid values are SSEKMS.',
    )
  const { 'SSE-KMS': wanted } = xmlFields(root, { 'SSE-KMS': 'one' })
  const { KMSKeyArn, BucketKeyEnabled } = xmlFields(wanted, {
    KMSKeyArn: 'optional',
    BucketKeyEnabled: 'optional',
  })
  // Bucket keys save calls to a key service, which does not exist here.
  if (BucketKeyEnabled !== undefined) xmlBoolean(BucketKeyEnabled)
  const text = optionalText(KMSKeyArn)?.trim() ?? ''
  if (text === '')
    throw storageFault(
      'InvalidRequest',
      "Requests that modify an object's encryption type to SSE-KMS require the name of a key.",
    )
  const keyId = KEY_ARN.exec(text)?.[1] ?? text
  if (!hasKey(keyId)) throw storageFault('KMS.NotFoundException')
  return keyId
}

/**
 * The client's key for a request or for its copy source (`x-amz-copy-source-…`). Throws InvalidArgument,
 * InvalidRequest, InvalidEncryptionAlgorithmError.
 */
export function parseCustomerKey(
  headers: IncomingHttpHeaders,
  { mayCarryKeys }: Pick<EncryptionPolicy, 'mayCarryKeys'>,
  of: 'request' | 'copy-source' = 'request',
): CustomerKey | undefined {
  const name = `x-amz-${of === 'request' ? '' : 'copy-source-'}server-side-encryption-customer`
  const algorithm = headers[`${name}-algorithm`]
  const key = headers[`${name}-key`]
  const keyMd5 = headers[`${name}-key-md5`]
  if (algorithm === undefined && key === undefined && keyMd5 === undefined) return undefined
  const lead = 'Requests specifying Server Side Encryption with Customer provided keys must'
  if (!mayCarryKeys)
    throw storageFault('InvalidRequest', `${lead} be made over a secure connection.`)
  if (algorithm === undefined) throw argument(`${lead} provide a valid encryption algorithm.`)
  if (algorithm !== 'AES256') throw storageFault('InvalidEncryptionAlgorithmError')
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : undefined
  if (bytes === undefined) throw argument(`${lead} provide an appropriate secret key.`)
  if (bytes.length !== 32) throw argument('The secret key was invalid for the specified algorithm.')
  if (typeof keyMd5 !== 'string')
    throw argument(`${lead} provide the client calculated MD5 of the secret key.`)
  if (createHash('md5').update(bytes).digest('base64') !== keyMd5)
    throw argument('The calculated MD5 hash of the key did not match the hash that was provided.')
  return { key: bytes, keyMd5 }
}

/**
 * Refuses headers that only writes may have; reads of SSE-S3 and SSE-KMS objects have none. Throws InvalidArgument.
 */
export function checkReadHeaders(headers: IncomingHttpHeaders): void {
  if (headers[SSE] !== undefined || headers[`${SSE}-aws-kms-key-id`] !== undefined)
    throw argument(`${SSE} header is not supported for this operation.`)
}

/**
 * Refuses an unneeded, a missing and a wrong key. AWS answers 403 for the last; Ceph's suite expects 400 for all
 * three. Throws InvalidRequest.
 */
export function checkCustomerKey(
  encryption: Encryption | undefined,
  given: CustomerKey | undefined,
): void {
  const wanted = encryption?.kind === 'SSE-C' ? encryption.keyMd5 : undefined
  if (wanted === undefined && given === undefined) return
  if (wanted === undefined)
    throw storageFault(
      'InvalidRequest',
      'The encryption parameters are not applicable to this object.',
    )
  if (given === undefined)
    throw storageFault(
      'InvalidRequest',
      'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
    )
  const [a, b] = [Buffer.from(wanted), Buffer.from(given.keyMd5)]
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw storageFault(
      'InvalidRequest',
      'The provided encryption parameters did not match the ones used originally.',
    )
}

/** The encryption headers of a reply. */
export function encryptionHeaders(encryption: Encryption | undefined): Record<string, string> {
  switch (encryption?.kind) {
    case undefined:
      return {}
    case 'SSE-S3':
      return { [SSE]: 'AES256' }
    case 'SSE-KMS':
      return {
        [SSE]: 'aws:kms',
        [`${SSE}-aws-kms-key-id`]: encryption.keyId,
        ...(encryption.context === undefined ? {} : { [`${SSE}-context`]: encryption.context }),
      }
    case 'SSE-C':
      return {
        [`${SSE}-customer-algorithm`]: 'AES256',
        [`${SSE}-customer-key-md5`]: encryption.keyMd5,
      }
  }
}

const argument = (message: string) => storageFault('InvalidArgument', message)
const noKeyId = () =>
  argument('Server Side Encryption with AWS KMS managed key requires the name of a key')
