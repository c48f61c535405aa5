// The portal's address as browsers know it: one exact origin, which passkeys are bound to and from which alone anything is
// changed.
import { fault } from '#contract/errors.ts'
import type { Exchange } from '#http/exchange.ts'

export type PortalOrigin = {
  /** Scheme, host and port, as browsers send it. */
  readonly origin: string
  /** The host without port: what passkeys are bound to (WebAuthn: the RP ID). */
  readonly host: string
  readonly isSecure: boolean
}

/** `url` is the public address. */
export function portalOriginOf(url: string): PortalOrigin {
  const { origin, hostname, protocol } = new URL(url)
  return { origin, host: hostname, isSecure: protocol === 'https:' }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

export const isRead = ({ method }: Pick<Exchange, 'method'>): boolean => READS.has(method)

/**
 * Uploads are for scripts of the portal alone: never is one a document, a script, a style or a frame of this origin. Throws origin_refused.
 */
export function demandOwnScript(exchange: Exchange): void {
  const from = exchange.header('sec-fetch-site')
  const use = exchange.header('sec-fetch-dest')
  if ((from ?? 'same-origin') === 'same-origin' && (use ?? 'empty') === 'empty') return
  throw fault(
    'origin_refused',
    `Could not take the request: its page is ${String(from).slice(0, 20)}, and wants a ${String(use).slice(0, 20)}`,
  )
}

/**
 * Answers to a session are for pages of the portal, for their downloads, and for an address that a person typed (`none`).
 * A page of another origin neither loads nor opens them, be it of a sibling host. Throws origin_refused.
 */
export function demandOwnRead(exchange: Exchange): void {
  const from = exchange.header('sec-fetch-site') ?? 'none'
  if (from === 'same-origin' || from === 'none') return
  throw fault('origin_refused', `Could not take the request: its page is ${from.slice(0, 20)}`)
}

/**
 * A request that may change something comes from a page of the portal: browsers say so in headers that no page can set.
 * Throws origin_refused.
 */
export function demandOwnOrigin(exchange: Exchange, { origin }: PortalOrigin): void {
  if (isRead(exchange)) return
  const from = exchange.header('origin')
  if (from !== origin)
    throw fault(
      'origin_refused',
      from === undefined
        ? 'Could not take the request: it has no Origin header'
        : `Could not take the request: its page is of "${from.slice(0, 200)}"`,
    )
  const site = exchange.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin')
    throw fault('origin_refused', `Could not take the request: its page is ${site.slice(0, 20)}`)
}
