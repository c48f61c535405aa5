// The server of the status page: three files, GET and HEAD, nothing else. It reads no cookie, no credential, no query
// and no Host, so no request changes an answer, and a cache in front cannot be poisoned.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from '#base/node-http.ts'
import { limitAddresses } from '#http/address-limit.ts'
import { PAGES, readStatusFile, type PagePath } from './files.ts'

const HEADER_BYTES_MAX = 8192
const HEADERS_MAX = 100
/** The whole of a request, which has no body. */
const REQUEST_MS_MAX = 5000
const KEEP_ALIVE_MS = 5000
const SILENCE_MS_MAX = 15_000
const CHECK_MS = 1000
const CONNECTIONS_MAX = 1000
/** Behind a proxy all readers have one address. */
const CONNECTIONS_OF_ADDRESS_MAX = 200
const REQUESTS_OF_CONNECTION_MAX = 100
/** Seconds that a cache may show a page: a third of the period of a minute. */
const CACHE_S = 20

/** `style` is the text of the style element of the page. */
export function statusHeaders(style: string): Readonly<Record<string, string>> {
  const hash = createHash('sha256').update(style).digest('base64')
  return {
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    // The page is public: programs on other pages may read its JSON and its feed.
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  }
}

export type StatusServer = { readonly port: number; close(): Promise<void> }

/** Serves the files of a folder; rejects when the address is taken. */
export async function serveStatus(deps: {
  readonly folder: string
  readonly host: string
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}): Promise<StatusServer> {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: REQUEST_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_MS,
      insecureHTTPParser: false,
    },
    (request, response) => answer(request, response, deps),
  )
  server.maxHeadersCount = HEADERS_MAX
  server.maxConnections = CONNECTIONS_MAX
  server.maxRequestsPerSocket = REQUESTS_OF_CONNECTION_MAX
  server.timeout = SILENCE_MS_MAX
  limitAddresses(server, CONNECTIONS_OF_ADDRESS_MAX)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: deps.host, port: deps.port }, () => resolve())
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : deps.port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

type ServedFolder = { readonly folder: string; readonly headers: Readonly<Record<string, string>> }

function answer(request: IncomingMessage, response: ServerResponse, deps: ServedFolder): void {
  for (const [name, value] of Object.entries(deps.headers)) response.setHeader(name, value)
  // No request of ours has a body, and none is waited for.
  if (hasBody(request)) response.setHeader('connection', 'close')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return refuse(response, 405, 'Could not answer: the status page knows GET and HEAD')
  }
  const [path = ''] = (request.url ?? '').split('?', 1)
  if (!Object.hasOwn(PAGES, path))
    return refuse(response, 404, 'Could not find the page: the status page is at /')
  const { file, type } = PAGES[path as PagePath]
  const text = textOf(deps.folder, file)
  if (text === undefined)
    return refuse(response, 503, 'The status page is not written yet: ask again in some seconds')
  sendText(request, response, { text, type })
}

/** A file that cannot be read is as good as none. */
function textOf(folder: string, file: string): string | undefined {
  try {
    return readStatusFile(folder, file)
  } catch {
    return undefined
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  { text, type }: { readonly text: string; readonly type: string },
): void {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  response.setHeader('cache-control', `public, max-age=${CACHE_S}`)
  response.setHeader('etag', etag)
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end()
    return
  }
  const bytes = Buffer.from(text)
  response.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.setHeader('cache-control', 'no-store')
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(`${text}\n`)
}
