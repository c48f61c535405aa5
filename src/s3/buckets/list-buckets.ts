// GET /: the buckets of the caller's account.
import type { OwnerOf } from '#s3/listing/entries.ts'
import type { Buckets } from '#objects/objects.ts'
import type { StorageHandler } from '#s3/call.ts'
import { bucketsQuery } from '#s3/listing/parameters.ts'
import { bucketsXml } from '#s3/listing/xml.ts'
import { xmlReply } from '#s3/reply.ts'

const NOBODY = { id: 'anonymous', displayName: 'anonymous' }

/** ListBuckets. Throws InvalidArgument. */
export const createListBuckets =
  ({ buckets, ownerOf }: { buckets: Buckets; ownerOf: OwnerOf }): StorageHandler =>
  async ({ caller, body: { target } }) => {
    // An anonymous caller has no buckets; AWS redirects to its home page.
    if (caller === undefined)
      return xmlReply(bucketsXml({ owner: NOBODY, buckets: [], prefix: '', next: undefined }))
    const { prefix, after, region, max } = bucketsQuery(target.query)
    const page = await buckets.list({
      account: caller.account,
      prefix,
      limit: max,
      ...(after === '' ? {} : { after }),
      ...(region === undefined ? {} : { region }),
    })
    return xmlReply(
      bucketsXml({
        owner: ownerOf(caller.account),
        buckets: page.buckets.map(({ name, createdAtMs, region: place }) => ({
          name,
          createdMs: createdAtMs,
          region: place,
        })),
        prefix,
        next: page.next,
      }),
    )
  }
