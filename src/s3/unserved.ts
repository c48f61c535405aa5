// The fixed answers of operations that are not served: "there is none", or NotImplemented.
import type { Access } from '#s3/policy/access.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { StorageHandler } from './call.ts'
import type { Match } from './match.ts'
import { emptyReply } from './reply.ts'

/** put-bucket-replication → PutBucketReplication */
const publicName = (operation: string): string =>
  operation.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

export type Unserved = (found: Match) => StorageHandler

/**
 * The handler of an operation that is not served. "There is none" is only told for an existing bucket and to allowed
 * callers: throws NoSuchBucket and AccessDenied first, then the fixed answer.
 */
export const createUnserved =
  ({ access }: { access: Access }): Unserved =>
  ({ operation, row: { answer }, action }) =>
  async (request) => {
    if (answer === 'served' || answer === 'NotImplemented')
      throw storageFault('NotImplemented', `${publicName(operation)} is not implemented`)
    const bucket = await access.find(request)
    const { key } = request.body.target
    const wanted = { action, ...(key === undefined ? {} : { key }) }
    if (!access.allows(request, bucket, wanted)) throw storageFault('AccessDenied')
    if (answer !== 'empty') throw storageFault(answer)
    return emptyReply()
  }
