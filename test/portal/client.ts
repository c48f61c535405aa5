// A client of the portal without a browser: it keeps cookies as browsers do and sends their headers, or any that a test
// wants to be wrong. Its passkeys are made in software.
import { once } from 'node:events'
import { request, type IncomingHttpHeaders } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { buffer as bytesOf } from 'node:stream/consumers'
import type { Ergon } from '../start-ergon.ts'
import { newSoftPasskey, type SoftPasskey } from './soft-authenticator.ts'

export type PortalAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly bytes: Buffer
  /** The body of a JSON answer; else empty. */
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string } }
}

export type Sent = {
  /** In place of the portal's own; null: none. */
  readonly origin?: string | null
  readonly host?: string
  /** In place of the client's own. */
  readonly cookie?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In place of JSON. */
  readonly text?: string
  /** In place of the portal's. */
  readonly port?: number
  /** The client's own address, where its network counts. */
  readonly address?: string
}

export type PortalClient = {
  readonly origin: string
  readonly passkey: SoftPasskey
  readonly cookies: Map<string, string>
  ask(method: string, path: string, body?: object, sent?: Sent): Promise<PortalAnswer>
  /** The same, and throws for another status; the body. */
  must(status: number, method: string, path: string, body?: object): Promise<PortalAnswer['body']>
}

/** The way of all requests of a client. */
export type Way = {
  /** A server of this machine that ends TLS in front of the portal, and its certificate. */
  readonly tls?: { readonly port: number; readonly ca: string }
  readonly address?: string
}

export function newClient(ergon: Ergon, way: Way = {}): PortalClient {
  const origin = String(ergon.ready['portal_url'])
  const cookies = new Map<string, string>()
  const client: PortalClient = {
    origin,
    passkey: newSoftPasskey(origin),
    cookies,
    async ask(method, path, body, sent = {}) {
      const from = { ergon, origin, cookies, tls: way.tls }
      const address = way.address ?? '127.0.0.1'
      const answer = await send(from, { method, path, body }, { address, ...sent })
      for (const line of answer.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      return answer
    },
    async must(status, method, path, body) {
      const answer = await client.ask(method, path, body)
      if (answer.status !== status)
        throw new Error(`${method} ${path}: ${answer.status} in place of ${status}: ${answer.text}`)
      return answer.body
    },
  }
  return client
}

type Signed = Record<string, unknown> & { readonly member_id: string; readonly account_id: string }

/** Makes an account, or joins one by an invitation. */
export async function signUpSoftly(
  client: PortalClient,
  asked: { readonly name: string } | { readonly invitation: string },
): Promise<Signed> {
  const options = await client.must(200, 'POST', '/v1/sign-up/options', asked)
  const response = client.passkey.create(options as never)
  return (await client.must(201, 'POST', '/v1/sign-up', { response })) as Signed
}

export async function signInSoftly(client: PortalClient): Promise<PortalAnswer['body']> {
  const options = await client.must(200, 'POST', '/v1/sign-in/options')
  const response = client.passkey.get(options as never)
  return await client.must(200, 'POST', '/v1/sign-in', { response })
}

async function send(
  {
    ergon,
    origin,
    cookies,
    tls,
  }: { ergon: Ergon; origin: string; cookies: Map<string, string>; tls: Way['tls'] | undefined },
  { method, path, body }: { method: string; path: string; body: object | undefined },
  { host = new URL(origin).host, port = tls?.port ?? ergon.port + 1, ...sent }: Sent,
): Promise<PortalAnswer> {
  const { origin: from = origin } = sent
  const cookie = sent.cookie ?? [...cookies].map((pair) => pair.join('=')).join('; ')
  const payload = sent.text ?? (body === undefined ? undefined : JSON.stringify(body))
  const call = (tls === undefined ? request : tlsRequest)({
    ...(tls === undefined ? {} : { ca: tls.ca, servername: new URL(origin).hostname }),
    host: '127.0.0.1',
    localAddress: sent.address ?? '127.0.0.1',
    port,
    method,
    path,
    agent: false,
    headers: {
      host,
      ...(from === null || method === 'GET' ? {} : { origin: from }),
      ...(cookie === '' ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
      ...sent.headers,
    },
  })
  call.end(payload)
  const [response] = await once(call, 'response')
  const bytes = await bytesOf(response)
  const text = bytes.toString('utf8')
  const isJson = /json/.test(String(response.headers['content-type']))
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    bytes,
    body: isJson ? (JSON.parse(text) as PortalAnswer['body']) : {},
  }
}

/** Ends the touches of a member's sessions, as five minutes do. */
export async function endTouch(ergon: Ergon, member: unknown): Promise<void> {
  await ergon.sql(
    `with aged as (
       update browser_sessions s set touched_until = now() - interval '1 second'
       from tokens t where t.id = s.token and t.member = $1 returning t.account)
     select change_credentials(null, account) from aged`,
    [member],
  )
  // Until the gateways have heard of it.
  await ergon.sql('select pg_sleep(0.5)')
}
