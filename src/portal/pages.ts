// Pages and files of the portal as a protocol: the landing page for visitors, the console for members who are signed in, and the
// files of both. Every path without a dot is a page of the console, which reads the path itself. Keys of the storage are pages too.
import { fault } from '#contract/errors.ts'
import type { HeaderList } from '#http/energy-headers.ts'
import type { Exchange } from '#http/exchange.ts'
import { renderProblem } from '#http/problem.ts'
import type { ProtocolHandler } from '#http/protocol-handler.ts'
import type { KnownReply } from '#http/reply.ts'
import type { SiteFile, SiteFiles } from './files.ts'
import { isRead } from './origin.ts'

/** Files whose names have the hash of their content. */
const IMMUTABLE = '/assets/'
const CONSOLE = '/index.html'
const LANDING = '/landing.html'

const STORED = '/storage/'
const isPage = (path: string): boolean => !path.includes('.') || path.startsWith(STORED)

export function createPages(deps: {
  readonly files: () => Promise<SiteFiles | undefined>
  readonly isSignedIn: (exchange: Exchange) => Promise<boolean>
  readonly headers: HeaderList
}): ProtocolHandler {
  const { files, isSignedIn, headers } = deps

  async function reply(exchange: Exchange): Promise<KnownReply> {
    const { path } = exchange
    const built = await files()
    if (built === undefined) return isPage(path) ? unbuiltPage() : missing()
    if (path === '/' && built.has(LANDING) && !(await isSignedIn(exchange)))
      return send(exchange, built, LANDING)
    return send(exchange, built, isPage(path) ? CONSOLE : path)
  }

  return {
    headers,
    match(exchange) {
      if (!isRead(exchange))
        throw fault('method_not_allowed', `Could not call the page with ${exchange.method}`, {
          headers: { allow: 'GET, HEAD' },
        })
      return {
        operation: 'portal.file',
        endpoint: { handle: () => reply(exchange) },
        parameters: {},
      }
    },
    identify: () => undefined,
    body: async () => undefined,
    render: renderProblem,
  }
}

function send(exchange: Exchange, files: SiteFiles, path: string): KnownReply {
  const file = files.get(path)
  if (file === undefined) return missing()
  const cache = path.startsWith(IMMUTABLE) ? 'public, max-age=31536000, immutable' : 'no-cache'
  // The root alone is another page for one who is signed in.
  const vary = exchange.path === '/' ? 'Accept-Encoding, Cookie' : 'Accept-Encoding'
  const fixed = { 'Cache-Control': cache, ETag: file.etag, Vary: vary }
  if (exchange.header('if-none-match')?.includes(file.etag) === true)
    return { kind: 'known', status: 304, headers: fixed, contentType: file.type, body: () => '' }
  const { bytes, encoding } = formOf(file, exchange.header('accept-encoding') ?? '')
  return {
    kind: 'known',
    status: 200,
    contentType: file.type,
    headers: { ...fixed, ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }) },
    bytesExpected: bytes.length,
    body: () => bytes,
  }
}

function formOf(
  { br, gz, bytes }: SiteFile,
  accepted: string,
): { readonly bytes: Buffer; readonly encoding?: string } {
  if (br !== undefined && /\bbr\b(?!;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted))
    return { bytes: br, encoding: 'br' }
  if (gz !== undefined && /\bgzip\b(?!;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted))
    return { bytes: gz, encoding: 'gzip' }
  return { bytes }
}

const missing = (): never => {
  throw fault('not_found', 'Could not find the file: the console has none of this name')
}

/** No style, no script: the policy of the portal allows what is in files alone, and there are none yet. */
const unbuiltPage = (): KnownReply => ({
  kind: 'known',
  status: 503,
  contentType: 'text/html; charset=utf-8',
  headers: { 'Retry-After': '5', Refresh: '5', 'Cache-Control': 'no-store' },
  body: () => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Ergon</title></head>
<body>
<h1>Ergon</h1>
<p>The console is being built. This page asks again every 5 seconds.</p>
</body>
</html>
`,
})
