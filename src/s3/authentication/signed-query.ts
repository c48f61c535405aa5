// The version of the signature in a query, which signs a presigned address.
import type { Query } from '#s3/target.ts'

const PARAMETERS = {
  4: ['X-Amz-Algorithm', 'X-Amz-Signature'],
  2: ['AWSAccessKeyId', 'Signature'],
} as const

/** 4 when both have parameters, which is refused before anything is verified. */
export function queryVersion(query: Query): 2 | 4 | undefined {
  if (isSignedQuery(query, 4)) return 4
  return isSignedQuery(query, 2) ? 2 : undefined
}

export const isSignedQuery = (query: Query, version: keyof typeof PARAMETERS): boolean =>
  PARAMETERS[version].some((name) => query.has(name))
