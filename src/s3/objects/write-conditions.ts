// The conditions of writes, which the store judges in the transaction that commits.
import type { IncomingHttpHeaders } from 'node:http'
import { present } from '#base/errors.ts'
import type { Objects } from '#objects/objects.ts'
import type { Bucket, Conditions } from '#objects/types.ts'
import type { StorageCall } from '#s3/call.ts'
import { parsePreconditions, type DeleteConditions } from './conditions.ts'

type GivenConditions = { readonly conditions?: Conditions }

const tags = (given: readonly string[]) => (given.includes('*') ? '*' : given)

/** If-Match and If-None-Match of a write. Dates are ignored. */
export function writeConditions(headers: IncomingHttpHeaders): GivenConditions {
  const { ifMatch, ifNoneMatch } = parsePreconditions(headers)
  if (ifMatch === undefined && ifNoneMatch === undefined) return {}
  return {
    conditions: {
      ...(ifMatch === undefined ? {} : { ifMatch: tags(ifMatch) }),
      ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: tags(ifNoneMatch) }),
    },
  }
}

/**
 * Called before a body is read: throws PreconditionFailed or NoSuchKey when the conditions already fail. Without
 * conditions it does nothing.
 */
export async function checkEarly(
  objects: Pick<Objects, 'check'>,
  bucket: Bucket,
  { headers, target }: Pick<StorageCall, 'headers' | 'target'>,
): Promise<void> {
  const { conditions } = writeConditions(headers)
  const key = present(target.key, 'an object has a key')
  if (conditions !== undefined) await objects.check(bucket, key, conditions)
}

/** The conditions of a delete. */
export function deleteConditions({ etag, modifiedMs, bytes }: DeleteConditions): GivenConditions {
  if (etag === undefined && modifiedMs === undefined && bytes === undefined) return {}
  return {
    conditions: {
      ...(etag === undefined ? {} : { ifMatch: tags([etag]) }),
      ...(modifiedMs === undefined ? {} : { ifMatchModifiedMs: modifiedMs }),
      ...(bytes === undefined ? {} : { ifMatchSize: bytes }),
    },
  }
}
