// GET /bucket, versions 1 and 2 of listing, and the versions of objects.
import type { Access } from '#s3/policy/judge.ts'
import type { Listings } from '#objects/objects.ts'
import type { StorageHandler } from '#s3/call.ts'
import type { OwnerOf } from './entries.ts'
import { objectsQuery, objectsV2Query, versionsQuery } from './parameters.ts'
import { objectsV2Xml, objectsXml, versionsXml } from './xml.ts'
import { xmlReply } from '#s3/reply.ts'

/** ListObjects (version 1). Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListObjects =
  ({
    access,
    listings,
    ownerOf,
  }: {
    access: Access
    listings: Listings
    ownerOf: OwnerOf
  }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const query = objectsQuery(request.body.target.query)
    const { prefix, delimiter, marker, max } = query
    const page = await listings.objects(bucket, { prefix, delimiter, after: marker, limit: max })
    return xmlReply(
      objectsXml(
        {
          bucket: bucket.name,
          entries: page.entries,
          prefixes: page.commonPrefixes,
          next: page.truncated ? page.last : undefined,
        },
        query,
        ownerOf,
      ),
    )
  }

/** ListObjectsV2. Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListObjectsV2 =
  ({
    access,
    listings,
    ownerOf,
  }: {
    access: Access
    listings: Listings
    ownerOf: OwnerOf
  }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const query = objectsV2Query(request.body.target.query)
    const { prefix, delimiter, after, max } = query
    const page = await listings.objects(bucket, { prefix, delimiter, after, limit: max })
    return xmlReply(
      objectsV2Xml(
        {
          bucket: bucket.name,
          entries: page.entries,
          prefixes: page.commonPrefixes,
          next: page.truncated ? page.last : undefined,
        },
        query,
        ownerOf,
      ),
    )
  }

/** ListObjectVersions. Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListObjectVersions =
  ({
    access,
    listings,
    ownerOf,
  }: {
    access: Access
    listings: Listings
    ownerOf: OwnerOf
  }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const query = versionsQuery(request.body.target.query)
    const { prefix, delimiter, keyMarker, versionIdMarker, max } = query
    const page = await listings.versions(bucket, {
      prefix,
      delimiter,
      after: keyMarker,
      limit: max,
      ...(versionIdMarker === undefined ? {} : { afterVersion: versionIdMarker }),
    })
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
