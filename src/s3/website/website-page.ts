// GET and HEAD of a website: the page of a path, a redirect, or the configured error page. Visitors are anonymous, so
// the bucket's owner pays, as for any public read.
import type { StorageSettings } from '#s3/settings.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { BlobReader } from '#objects/blob-reader.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { Access } from '#s3/policy/access.ts'
import { ErgonError } from '#base/errors.ts'
import type { Reply } from '#http/reply.ts'
import { isStorageCode, storageFault } from '#contract/storage/storage-errors.ts'
import type { Bucket } from '#objects/types.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import {
  folderKey,
  folderRedirect,
  objectRedirect,
  routeOfError,
  routeOfPath,
  type Origin,
  type WebsiteRedirect,
} from './website-route.ts'
import type { Website } from './website.ts'
import { requestOrigin } from './origin.ts'
import { errorHeaders } from './render-page-error.ts'
import { createGetObject, createHeadObject } from '#s3/objects/get-object.ts'

const MOVED = 'x-amz-website-redirect-location'

type PageDeps = { access: Access; admitTransfer: AdmitTransfer; settings: StorageSettings }

/** GET of a page. Throws NoSuchBucket, NoSuchWebsiteConfiguration, and the faults of GetObject. */
export const createGetWebsitePage = (
  deps: PageDeps & { encrypting: Encrypting; blobs: BlobReader },
): StorageHandler => createPage(deps, createGetObject(deps))

/** HEAD of a page. */
export const createHeadWebsitePage = (
  deps: PageDeps & { encrypting: Encrypting },
): StorageHandler => createPage(deps, createHeadObject(deps))

type Visit = {
  readonly request: StorageRequest
  readonly bucket: Bucket
  readonly website: Website
  /** Decoded, without its first `/`. */
  readonly path: string
  readonly origin: Origin
}

function createPage(deps: PageDeps, read: StorageHandler): StorageHandler {
  async function redirect({ request, bucket }: Visit, found: WebsiteRedirect): Promise<Reply> {
    await deps.admitTransfer(request, bucket, 0)
    const { status, location } = found
    return { kind: 'known', status, headers: { location }, contentType: HTML, body: () => '' }
  }

  /** An object as a page: unlike at an address of the API, it may run scripts. */
  async function page(
    request: StorageRequest,
    key: string,
  ): Promise<{ reply: Reply; location: string | undefined }> {
    const reply = await read(at(request, key))
    const { 'content-security-policy': _, [MOVED]: location, ...headers } = reply.headers ?? {}
    return { reply: { ...reply, headers }, location }
  }

  /** The answer when the key could not be read. Throws the error when nothing is configured. */
  async function instead(visit: Visit, error: ErgonError): Promise<Reply> {
    const { request, website, path, origin } = visit
    const folder = folderKey(website, path)
    if (folder !== undefined && (await isReadable(at(request, folder))))
      return await redirect(visit, folderRedirect(path, origin))
    const route = routeOfError(website, path, error.status, origin)
    if (route === undefined) throw error
    if (route.kind === 'redirect') return await redirect(visit, route)
    const { reply } = await page(unconditional(request), route.key).catch(() => {
      // AWS shows both errors; only the first is about the visitor's path.
      throw error
    })
    return { ...reply, status: error.status, headers: { ...reply.headers, ...errorHeaders(error) } }
  }

  const isReadable = (request: StorageRequest): Promise<boolean> =>
    deps.access.version(request).then(
      () => true,
      (error: unknown) => {
        if (isOfVisitor(error)) return false
        throw error
      },
    )

  return async (request) => {
    const bucket = await deps.access.find(request)
    const website = documentOf(bucket, 'website')
    if (website === undefined)
      throw storageFault('NoSuchWebsiteConfiguration', undefined, { BucketName: bucket.name })
    const { target } = request.body
    const path = target.key ?? ''
    const origin = requestOrigin(request, deps.settings)
    const visit = { request, bucket, website, path, origin }
    const route = routeOfPath(website, path, origin)
    if (route.kind === 'redirect') return await redirect(visit, route)
    try {
      const { reply, location } = await page(request, route.key)
      return location === undefined ? reply : await redirect(visit, objectRedirect(location))
    } catch (error) {
      if (!isOfVisitor(error)) throw error
      return await instead(visit, error)
    }
  }
}

const HTML = 'text/html; charset=utf-8'

/** The request as one for an object, without the page's parameters. */
const at = (request: StorageRequest, key: string): StorageRequest => ({
  ...request,
  body: { ...request.body, target: { ...request.body.target, key, query: new Map() } },
})

/** Error pages are sent whole, whatever the visitor has cached. */
function unconditional(request: StorageRequest): StorageRequest {
  const kept = Object.entries(request.body.headers).filter(([name]) => !/^(if-|range$)/.test(name))
  return { ...request, body: { ...request.body, headers: Object.fromEntries(kept) } }
}

/** S3 errors with status 4xx: a website may answer these with its own page. */
const isOfVisitor = (error: unknown): error is ErgonError =>
  error instanceof ErgonError && isStorageCode(error.code) && error.status < 500
