// Routes a request to a website: to a key or a redirect. Keys are decoded here and encoded in locations, so no key
// can inject a header or another host.
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Redirect, RoutingRule, Website } from './website.ts'

const LOCATION_BYTES_MAX = 2048

/** The origin of the request, for redirects that keep it. */
export type Origin = { readonly protocol: 'http' | 'https'; readonly host: string }

export type WebsiteRedirect = {
  readonly kind: 'redirect'
  readonly status: number
  readonly location: string
}
export type WebsiteRoute = WebsiteRedirect | { readonly kind: 'key'; readonly key: string }

/** The route of a path, which is decoded and without its first `/`. */
export function routeOfPath(website: Website, path: string, origin: Origin): WebsiteRoute {
  if (website.kind === 'redirect') {
    const { host, protocol } = website
    return redirectTo({ host, ...(protocol === undefined ? {} : { protocol }) }, path, origin)
  }
  const rule = website.rules.find(
    ({ prefix = '', errorStatus }) => errorStatus === undefined && path.startsWith(prefix),
  )
  if (rule !== undefined) return redirectBy(rule, path, origin)
  return { kind: 'key', key: path === '' || path.endsWith('/') ? path + website.index : path }
}

/**
 * The route after a failed read with status 403 or 404: a redirect, the error page (sent with that status), or
 * undefined: the plain error.
 */
export function routeOfError(
  website: Website,
  path: string,
  status: number,
  origin: Origin,
): WebsiteRoute | undefined {
  if (website.kind === 'redirect') return undefined
  const rule = website.rules.find(
    ({ prefix = '', errorStatus }) => errorStatus === status && path.startsWith(prefix),
  )
  if (rule !== undefined) return redirectBy(rule, path, origin)
  return website.errorKey === undefined ? undefined : { kind: 'key', key: website.errorKey }
}

/** The key of a folder's page for a path without its `/`; if that key exists, the answer is `folderRedirect`. */
export const folderKey = (website: Website, path: string): string | undefined =>
  website.kind === 'redirect' || path === '' || path.endsWith('/')
    ? undefined
    : `${path}/${website.index}`

/** With protocol and host, so that a path that begins with `/` cannot name another host. */
export const folderRedirect = (path: string, origin: Origin): WebsiteRedirect =>
  redirectTo({ status: 302 }, `${path}/`, origin)

/** Refuses an `x-amz-website-redirect-location` that is neither a path nor an address, as AWS does. */
export function checkRedirectLocation(location: string): void {
  const isPath = location.startsWith('/')
  const isAddress = /^https?:\/\//.test(location) && URL.canParse(location)
  if ((!isPath && !isAddress) || Buffer.byteLength(location) > LOCATION_BYTES_MAX)
    throw storageFault('InvalidRedirectLocation')
}

/** The redirect of an object, which was checked when it was stored. */
export const objectRedirect = (location: string): WebsiteRedirect => ({
  kind: 'redirect',
  status: 301,
  location,
})

function redirectBy({ prefix = '', redirect }: RoutingRule, path: string, origin: Origin) {
  const { replaceKey, replacePrefix } = redirect
  if (replaceKey !== undefined) return redirectTo(redirect, replaceKey, origin)
  const key = replacePrefix === undefined ? path : replacePrefix + path.slice(prefix.length)
  return redirectTo(redirect, key, origin)
}

function redirectTo(redirect: Redirect, key: string, origin: Origin): WebsiteRedirect {
  const { host = origin.host, protocol = origin.protocol, status = 301 } = redirect
  return { kind: 'redirect', status, location: `${protocol}://${host}/${encodePath(key)}` }
}

const encodePath = (key: string): string => key.split('/').map(encodeURIComponent).join('/')
