// The version of the signature in a query, which signs a presigned address.
import type { Query } from '#s3/target.ts'

const PARAMETERS = {
  4: ['X-Amz-Algorithm', 'X-Amz-Signature'],
  2: ['AWSAccessKeyId', 'Signature'],
} as const

/** 4 when both have parameters, which is refused before anything is verified. */
export function queryVersion(query: Query): 2 | 4 | undefined {
  if (isSigned(query, 4)) return 4
  return isSigned(query, 2) ? 2 : undefined
}

export const isSigned = (query: Query, version: keyof typeof PARAMETERS): boolean =>
  PARAMETERS[version].some((name) => query.has(name))
