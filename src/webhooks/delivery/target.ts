// The url of an endpoint: checked when it is given, and read again before each delivery.
import { isIP } from 'node:net'
import { hostOfUrl, isLocalName, isLoopback, LOOPBACK } from '#base/hosts.ts'
import { fault } from '#contract/errors.ts'
import type { AddressRule } from '#egress/addresses.ts'

export type EndpointTarget = {
  readonly isSecure: boolean
  /** In lower case, without brackets and without a final dot. */
  readonly hostname: string
  readonly port: number
  readonly path: string
  /** For the header Host. */
  readonly host: string
}

const MASKED = /=\*\*\*(&|$)/

/** The url with the values of its query masked: some receivers have their key there. Users and passwords are refused. */
export function maskedUrl(url: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const parts = url.slice(at + 1).split('&')
  // A part without a name is a value itself.
  const nameOf = (part: string) => (part.includes('=') ? part.slice(0, part.indexOf('=')) : '')
  return `${url.slice(0, at)}?${parts.map((part) => `${nameOf(part)}=***`).join('&')}`
}

/** Throws invalid_request. A name is resolved at each connection, not here. */
export function readTarget(url: string, rule: AddressRule): EndpointTarget {
  const refused = (why: string) =>
    fault('invalid_request', `Could not use the url: ${why}`, { param: 'url' })
  if (!URL.canParse(url))
    throw refused(`"${url.slice(0, 100)}" is no url, such as https://example.com/events`)
  const parsed = new URL(url)
  const isSecure = parsed.protocol === 'https:'
  if (!isSecure && parsed.protocol !== 'http:') throw refused('it must begin with https://')
  if (parsed.username !== '' || parsed.password !== '')
    throw refused('it must have no user and no password')
  if (MASKED.test(parsed.search)) throw refused('it is masked: give the whole url')
  if (parsed.hash !== '') throw refused('it must have no fragment')
  const hostname = hostOfUrl(parsed).replace(/\.$/, '')
  const port = parsed.port === '' ? (isSecure ? 443 : 80) : Number(parsed.port)
  const isAddress = isIP(hostname) !== 0
  const isLocal = isLocalName(hostname)
  if (isAddress && !rule.permits(hostname, port))
    throw refused(`the address is not public: ${hostname}`)
  if (isLocal && !LOOPBACK.some((address) => rule.permits(address, port)))
    throw refused(`the address is not public: ${hostname}`)
  if (!isAddress && !isLocal && !hostname.includes('.'))
    throw refused(`it needs a name of the public DNS: ${hostname}`)
  if (!isSecure && !isLoopback(hostname)) throw refused('it must begin with https://')
  return {
    isSecure,
    hostname,
    port,
    path: `${parsed.pathname}${parsed.search}`,
    host: parsed.host,
  }
}
