// The source of a copy.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { checkKey, decodeOnce } from '#s3/target.ts'
import { checkVersionId } from '#s3/version-id.ts'

export type CopySource = {
  readonly bucket: string
  readonly key: string
  readonly versionId: string | undefined
}

/**
 * x-amz-copy-source: `bucket/key?versionId=…`, with or without a slash before it, percent-encoded.
 * Throws InvalidArgument, InvalidURI, KeyTooLongError.
 */
export function parseCopySource(header: string): CopySource {
  // A key may contain a bare `?`: only the last `?versionId=` separates.
  const found = /^\/?([^/]+)\/(.+?)(?:\?versionId=([^?&]*))?$/s.exec(header)
  const [, bucket, rawKey, versionId] = found ?? []
  if (bucket === undefined || rawKey === undefined)
    throw storageFault(
      'InvalidArgument',
      'Copy Source must mention the source bucket and key: sourcebucket/sourcekey',
      { ArgumentName: 'x-amz-copy-source', ArgumentValue: header },
    )
  const key = decodeOnce(rawKey)
  checkKey(key)
  if (versionId !== undefined) checkVersionId(versionId, 'x-amz-copy-source')
  return { bucket: decodeOnce(bucket), key, versionId }
}
