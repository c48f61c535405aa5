// The security headers of every answer of the portal: nothing runs, loads or frames but its own files.
import type { HeaderList } from '#http/energy-headers.ts'
import type { PortalOrigin } from './origin.ts'

const YEAR_S = 31_536_000

/** Headers of uploads: no browser runs one as a page of this origin, or keeps one, whatever the upload says. */
export const DATA_HEADERS: HeaderList = [
  'Content-Security-Policy',
  "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'X-Frame-Options',
  'DENY',
  'Cache-Control',
  'no-store',
]

/**
 * `baseUrl` is the address of storage: previews of pictures come from its origin. Scripts come from the console's own
 * files: other paths of the portal's origin answer with uploads of others.
 */
export function portalHeaders(
  { isSecure, origin: own }: PortalOrigin,
  baseUrl: string,
): HeaderList {
  const { origin } = new URL(baseUrl)
  const files = `${own}/assets/`
  const policy = [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    "font-src 'self'",
    `img-src 'self' ${origin}`,
    "connect-src 'self'",
    `worker-src ${files}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return [
    'Content-Security-Policy',
    policy.join('; '),
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Cross-Origin-Resource-Policy',
    'same-origin',
    'X-Frame-Options',
    'DENY',
    'Permissions-Policy',
    'publickey-credentials-create=(self), publickey-credentials-get=(self), camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...(isSecure ? ['Strict-Transport-Security', `max-age=${YEAR_S}`] : []),
  ]
}
