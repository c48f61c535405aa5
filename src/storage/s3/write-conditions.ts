// The conditions of writes as the store judges them, inside the transaction that commits.
import type { IncomingHttpHeaders } from 'node:http'
import type { Conditions } from '#storage/objects/types.ts'
import { parseConditions, type DeleteConditions } from './objects/conditions.ts'

type Given = { readonly conditions?: Conditions }

const tags = (given: readonly string[]) => (given.includes('*') ? '*' : given)

/** If-Match and If-None-Match of a write; dates say nothing there. */
export function writeConditions(headers: IncomingHttpHeaders): Given {
  const { ifMatch, ifNoneMatch } = parseConditions(headers)
  if (ifMatch === undefined && ifNoneMatch === undefined) return {}
  return {
    conditions: {
      ...(ifMatch === undefined ? {} : { ifMatch: tags(ifMatch) }),
      ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: tags(ifNoneMatch) }),
    },
  }
}

/** Those of a delete. */
export function deleteConditions({ etag, modifiedMs, bytes }: DeleteConditions): Given {
  if (etag === undefined && modifiedMs === undefined && bytes === undefined) return {}
  return {
    conditions: {
      ...(etag === undefined ? {} : { ifMatch: tags([etag]) }),
      ...(modifiedMs === undefined ? {} : { ifMatchModifiedMs: modifiedMs }),
      ...(bytes === undefined ? {} : { ifMatchSize: bytes }),
    },
  }
}
