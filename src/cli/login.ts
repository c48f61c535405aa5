// Logins that a person approves at the portal. The browser of this machine comes back to a port of 127.0.0.1 (RFC 8252); on
// any other device the person types a code (RFC 8628). The token is for the holder of the verifier alone (RFC 7636).
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type {
  loginBegun,
  LoginBegun,
  loginFinished,
  LoginFinished,
} from '#contract/portal/portal.ts'
import { ApiRefusal, apiPost, Unreachable, replyOf } from './client.ts'
import { CommandError, EXIT } from './output.ts'
import { loginCommand, type GlobalOptions } from './profile.ts'

const NAME_LENGTH_MAX = 100
const PENDING = 'login_pending'
/** Too many requests, or a service that starts, stops or is away. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 502, 503, 504])
const PAUSE_MS_MAX = 30_000

/** `scope`: what the page of the approval names, for the person to choose. */
type LoginOptions = GlobalOptions & { readonly scope?: string | boolean | undefined }
/** Says where the person approves, and with which code; opens the page, where that is wanted. */
export type OnBegun = (begun: LoginBegun) => void

/** Logs in by the browser of this machine. Throws a CommandError when nobody approves it in time. */
export async function loginByBrowser(options: LoginOptions, tell: OnBegun): Promise<LoginFinished> {
  const state = randomBytes(16).toString('base64url')
  await using callback = await listenForCallback(options, state)
  const { verifier, begun } = await begin(options, { redirect_port: callback.port, state })
  tell(begun)
  const limit = AbortSignal.timeout(Math.max(0, Date.parse(begun.expires_at) - Date.now()))
  const code = await callback.code(limit)
  return await finish(options, begun, { code_verifier: verifier, code })
}

/** By a code that is typed on any device. Throws the same. */
export async function loginByCode(options: LoginOptions, tell: OnBegun): Promise<LoginFinished> {
  const { verifier, begun } = await begin(options, {})
  tell(begun)
  let pauseMs = begun.interval_s * 1000
  while (Date.parse(begun.expires_at) > Date.now()) {
    await pause(pauseMs)
    try {
      return await finish(options, begun, { code_verifier: verifier })
    } catch (error) {
      if (!isPassing(error)) throw error
      // RFC 8628, section 3.5: a server that was asked too often, or does not answer, is asked less often.
      if (error.code !== PENDING) pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)
    }
  }
  throw notApproved(options)
}

/** True while the login may still be approved: it waits, or the service could not answer now. */
export const isPassing = (error: unknown): error is CommandError =>
  error instanceof Unreachable ||
  (error instanceof ApiRefusal && (error.code === PENDING || PASSING.has(error.status)))

async function begin(
  options: LoginOptions,
  redirect: { readonly redirect_port?: number; readonly state?: string },
): Promise<{ readonly verifier: string; readonly begun: LoginBegun }> {
  const verifier = randomBytes(32).toString('base64url')
  const { text } = await apiPost(
    options,
    '/v1/logins',
    {
      name: hostname().slice(0, NAME_LENGTH_MAX),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...(typeof options.scope === 'string' && { scope: options.scope }),
      ...redirect,
    },
    { public: true },
  )
  return { verifier, begun: replyOf<typeof loginBegun>({ text }) }
}

async function finish(
  options: GlobalOptions,
  { id }: LoginBegun,
  proof: { readonly code_verifier: string; readonly code?: string },
): Promise<LoginFinished> {
  const { text } = await apiPost(options, `/v1/logins/${id}/token`, proof, { public: true })
  return replyOf<typeof loginFinished>({ text })
}

const notApproved = (options: LoginOptions) =>
  new CommandError(
    'Nobody has approved the login',
    EXIT.login,
    loginCommand(options, typeof options.scope === 'string' ? options.scope : undefined),
    'login_not_found',
  )

type Callback = AsyncDisposable & {
  readonly port: number
  /** The code that the browser brings. Throws a CommandError when the signal aborts. */
  code(limit: AbortSignal): Promise<string>
}

/** Takes one redirect that has `state`, at 127.0.0.1 and a free port. */
async function listenForCallback(options: LoginOptions, state: string): Promise<Callback> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const code = codeIn(request.url ?? '', state)
    const isOurs = code !== undefined
    response.writeHead(isOurs ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      connection: 'close',
    })
    response.end(isOurs ? DONE_PAGE : '')
    if (isOurs) resolve(code)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    code: (limit) =>
      new Promise((found, reject) => {
        limit.addEventListener('abort', () => reject(notApproved(options)), { once: true })
        promise.then(found, reject)
      }),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Of a redirect that has `state`. Other programs of this machine may ask for anything, such as `//`, which is no address. */
export function codeIn(target: string, state: string): string | undefined {
  const { pathname, searchParams } = URL.parse(target, 'http://127.0.0.1') ?? {}
  if (pathname !== '/callback' || searchParams?.get('state') !== state) return undefined
  return searchParams.get('code') ?? undefined
}

const DONE_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Ergon</title></head>
<body><p>The command line has its token. You may close this page.</p></body>
</html>
`
