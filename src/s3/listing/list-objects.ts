// GET /bucket, versions 1 and 2 of listing, and the versions of objects.
import type { Listings } from '#objects/objects.ts'
import type { Bucket } from '#objects/types.ts'
import type { StorageHandler } from '#s3/call.ts'
import type { EarlyPages } from './early-pages.ts'
import type { OwnerOf } from './entries.ts'
import { objectsQuery, objectsV2Query, versionsQuery } from './parameters.ts'
import { objectsV2Xml, objectsXml, versionsXml } from './xml.ts'
import { xmlReply } from '#s3/reply.ts'

type ListDeps = {
  readonly pages: EarlyPages
  readonly listings: Listings
  readonly ownerOf: OwnerOf
}

/** ListObjects (version 1). Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListObjects =
  ({ pages, listings, ownerOf }: ListDeps): StorageHandler =>
  async (request) => {
    const { bucket, page: found } = await pages(request, async (place) => {
      const query = objectsQuery(request.body.target.query)
      const { prefix, delimiter, marker: after, max: limit } = query
      return { query, page: await listings.objects(place, { prefix, delimiter, after, limit }) }
    })
    const { query, page } = found
    return xmlReply(objectsXml(listed(bucket, page), query, ownerOf))
  }

/** ListObjectsV2. Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListObjectsV2 =
  ({ pages, listings, ownerOf }: ListDeps): StorageHandler =>
  async (request) => {
    const { bucket, page: found } = await pages(request, async (place) => {
      const query = objectsV2Query(request.body.target.query)
      const { prefix, delimiter, after, max: limit } = query
      return { query, page: await listings.objects(place, { prefix, delimiter, after, limit }) }
    })
    const { query, page } = found
    return xmlReply(objectsV2Xml(listed(bucket, page), query, ownerOf))
  }

/** ListObjectVersions. Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListObjectVersions =
  ({ pages, listings, ownerOf }: ListDeps): StorageHandler =>
  async (request) => {
    const { bucket, page: found } = await pages(request, async (place) => {
      const query = versionsQuery(request.body.target.query)
      const { prefix, delimiter, keyMarker: after, versionIdMarker, max: limit } = query
      const from = versionIdMarker === undefined ? {} : { afterVersion: versionIdMarker }
      const asked = { prefix, delimiter, after, limit, ...from }
      return { query, page: await listings.versions(place, asked) }
    })
    const { query, page } = found
    return xmlReply(
      versionsXml(
        {
          bucket: bucket.name,
          entries: page.entries,
          prefixes: page.commonPrefixes,
          next: page.truncated ? page.last.key : undefined,
          nextVersionId: page.truncated ? page.last.versionId : undefined,
        },
        query,
        ownerOf,
      ),
    )
  }

const listed = ({ name }: Bucket, page: Awaited<ReturnType<Listings['objects']>>) => ({
  bucket: name,
  entries: page.entries,
  prefixes: page.commonPrefixes,
  next: page.truncated ? page.last : undefined,
})
