// What is always answered where an operation is not served: "there is none", or an honest refusal.
import type { Access } from '#s3/policy/judge.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { StorageHandler } from './call.ts'
import type { Match } from './match.ts'
import { emptyReply } from './reply.ts'

/** put-bucket-replication → PutBucketReplication */
const publicName = (operation: string): string =>
  operation.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

export type Unserved = (found: Match) => StorageHandler

/**
 * The handler of what has none. That there is none of a thing is said of a bucket that there is, to who
 * may ask: throws NoSuchBucket and AccessDenied first, then what the operation always answers.
 */
export const createUnserved =
  ({ access }: { access: Access }): Unserved =>
  ({ operation, row: { answer }, action }) =>
  async (request) => {
    if (answer === 'served' || answer === 'NotImplemented')
      throw storageFault('NotImplemented', `${publicName(operation)} is not implemented`)
    const bucket = await access.find(request)
    const { key } = request.body.target
    const question = { action, ...(key === undefined ? {} : { key }) }
    if (!access.allows(request, bucket, question)) throw storageFault('AccessDenied')
    if (answer !== 'empty') throw storageFault(answer)
    return emptyReply()
  }
