// The checksum that an upload asked for when it was created.
import type { Upload } from '#objects/types.ts'
import { isAlgorithm } from '#s3/checksums/algorithms.ts'
import type { MultipartChecksum } from '#s3/checksums/request.ts'

/** The checksum that the creator of an upload asked for; undefined without one. */
export function checksumOf(upload: Upload): MultipartChecksum | undefined {
  const { algorithm, type } = upload.attributes.checksums
  return typeof algorithm === 'string' && isAlgorithm(algorithm)
    ? { algorithm, type: type === 'COMPOSITE' ? 'COMPOSITE' : 'FULL_OBJECT' }
    : undefined
}
