// Requests to a registry: redirects, and the password or token that the registry asks for. Source: the token
// authentication of Docker's registry.
import { request, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { hostOfUrl } from '#base/hosts.ts'
import { fault } from '#contract/errors.ts'
import type { CheckedConnections, CheckedRequest } from '#egress/connections.ts'
import { failureWords } from '#egress/failure-words.ts'

export type RegistryCredentials = { readonly user: string; readonly password: string }

export type RegistryOptions = {
  /** To addresses that tenants may name. */
  readonly connections: CheckedConnections
  /** True for a registry that is asked without TLS. */
  readonly isPlain: (registry: string) => boolean
  readonly credentials?: RegistryCredentials | undefined
}

export type RegistryHeaders = Readonly<Record<string, string>>

const REDIRECTS = [301, 302, 303, 307, 308]
const REDIRECTS_MAX = 5
const SILENCE_MAX_MS = 60_000
const TOKEN_BYTES_MAX = 65_536

/** One request, and those that its redirects lead to. The authorization goes to the first host alone. */
export async function follow(
  options: RegistryOptions,
  first: URL,
  headers: RegistryHeaders,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let url = first
  for (let left = REDIRECTS_MAX; left >= 0; left--) {
    const { authorization: _, ...others } = headers
    const answer = await get(options, url, url.host === first.host ? headers : others, signal)
    const { location } = answer.headers
    if (!REDIRECTS.includes(answer.statusCode ?? 0) || location === undefined) return answer
    answer.resume()
    const next = URL.parse(location, url.href)
    const isSafe = next?.protocol === 'https:' || next?.protocol === first.protocol
    if (next === null || !isSafe)
      throw registryUnreachable(`${first.host} leads to an unsafe address`)
    url = next
  }
  throw registryUnreachable(`${first.host} leads in circles`)
}

function get(
  { connections }: RegistryOptions,
  url: URL,
  headers: RegistryHeaders,
  ending: AbortSignal,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:'
  const asked: CheckedRequest = {
    host: hostOfUrl(url),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers },
    // The agent makes the TLS connection too.
    agent: connections.agentFor({ isSecure }),
    signal: ending,
    ending,
  }
  return new Promise((resolve, reject) => {
    const sent = request(asked, resolve)
    sent.setTimeout(SILENCE_MAX_MS, () =>
      sent.destroy(registryUnreachable(`${url.host} is silent`)),
    )
    sent.on('error', (error) =>
      reject(
        ending.aborted ? error : registryUnreachable(`${url.host}: ${failureWords(error)}`, error),
      ),
    )
    sent.end()
  })
}

/**
 * The authorization that the challenge of a 401 asks for: the password, or a token of the service that the challenge
 * names. Undefined where none can be had.
 */
export async function authorizationFor(
  challenge: string,
  {
    options,
    repository,
    isPlain,
  }: { readonly options: RegistryOptions; readonly repository: string; readonly isPlain: boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { credentials } = options
  const password =
    credentials && Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')
  const basic = password === undefined ? undefined : `Basic ${password}`
  if (/^basic\b/i.test(challenge)) return basic
  const facts = Object.fromEntries(
    Array.from(challenge.matchAll(/(\w+)="([^"]*)"/g), ([, key = '', value = '']) => [key, value]),
  )
  const realm = URL.parse(facts['realm'] ?? '')
  const isSafe = realm?.protocol === 'https:' || (isPlain && realm?.protocol === 'http:')
  if (realm === null || !isSafe || !/^bearer\b/i.test(challenge)) return undefined
  if (facts['service'] !== undefined) realm.searchParams.set('service', facts['service'])
  realm.searchParams.set('scope', `repository:${repository}:pull`)
  const answer = await follow(
    options,
    realm,
    basic === undefined ? {} : { authorization: basic },
    signal,
  )
  const bytes = await limited(answer, TOKEN_BYTES_MAX)
  return answer.statusCode === 200 ? tokenOf(bytes) : undefined
}

function tokenOf(bytes: Buffer): string | undefined {
  try {
    const { token, access_token: other } = JSON.parse(bytes.toString()) as Record<string, unknown>
    const found = token ?? other
    return typeof found === 'string' ? `Bearer ${found}` : undefined
  } catch {
    return undefined
  }
}

/** The whole body. Throws registry_unreachable where there is more of it. */
export async function limited(answer: IncomingMessage, bytesMax: number): Promise<Buffer> {
  let bytes = 0
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax)
      answer.destroy(registryUnreachable(`an answer has more than ${bytesMax} bytes`))
  })
  return await buffer(answer)
}

export const registryUnreachable = (why: string, cause?: unknown) =>
  fault('registry_unreachable', `Could not pull the image: ${why}`, { cause })
