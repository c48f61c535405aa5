// The proxy of HTTP: tunnels by CONNECT, and plain requests by their whole address (RFC 9110 §9.3.6, RFC 9112 §3.2.2).
import { hostOfUrl } from '#base/hosts.ts'
import { HOP_BY_HOP } from '#base/hop-by-hop.ts'
import { joinStreams } from '#base/join-streams.ts'
import { limitInterim } from '#base/limit-interim.ts'
import { createServer, request as httpRequest } from '#base/node-http.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { CausedWork } from '#node/meter/caused-by-cells.ts'
import type { Destination } from './reach.ts'
import { Unreached, unreached } from './unreached.ts'

/** The tenant of a socket. */
export type ReachingTenant = {
  open(to: Destination): Promise<Socket>
  readonly work: Pick<CausedWork, 'mark' | 'count'>
}
export type TenantOf = (socket: Socket) => ReachingTenant

/** Serves the sockets that are given to it as connections. */
export function createHttpProxy(tenantOf: TenantOf, silenceMs: number): Server {
  const way = { tenantOf, silenceMs }
  const proxy = createServer((request, response) => void forward(way, request, response))
  // Limits of heads and of whole requests are those of a server that listens.
  proxy.timeout = silenceMs
  proxy.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void tunnel(way, { request, socket, head })
  })
  return proxy
}

type Way = { readonly tenantOf: TenantOf; readonly silenceMs: number }

async function tunnel(
  { tenantOf, silenceMs }: Way,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): Promise<void> {
  socket.on('error', () => socket.destroy())
  const place = `http://${request.url ?? ''}`
  const { open, work } = tenantOf(socket)
  try {
    const there = await open(destinationOf(place, request.url))
    if (socket.destroyed) return void there.destroy()
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) there.write(head)
    void joinStreams(socket, there, silenceMs)
    for (const stream of [socket, there]) work.count(stream)
  } catch (error) {
    const { status, message: words } = unreached(request.url ?? '', error)
    socket.write(
      `HTTP/1.1 ${status} ${words}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(words) + 1}\r\n\r\n${words}\n`,
      'latin1',
    )
    socket.destroySoon()
  }
}

async function forward(
  { tenantOf, silenceMs }: Way,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '' } = request
  const { open, work } = tenantOf(request.socket)
  try {
    const socket = await open(destinationOf(url, undefined))
    const { pathname, search } = new URL(url)
    const onward = httpRequest({
      method,
      path: `${pathname}${search}`,
      headers: ownHeaders(request, 'transfer-encoding'),
      setHost: false,
      createConnection: () => socket,
    })
    limitInterim(onward)
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      onward.once('response', resolve)
      onward.once('error', reject)
      // Nobody has asked for it, as the proxy passes no upgrade on. Without a listener there would be no event at all.
      onward.once('upgrade', () =>
        reject(new Unreached(502, url, 'it answers in another protocol')),
      )
    })
    response.once('close', () => socket.destroy())
    socket.setTimeout(silenceMs, () => socket.destroy())
    pipeline(request, onward).catch(() => undefined)
    work.count(request)
    const answer = await answered
    const { statusCode = 502, statusMessage } = answer
    response.writeHead(statusCode, statusMessage, ownHeaders(answer))
    const sent = pipeline(answer, response)
    work.count(answer)
    await sent
    work.mark()
  } catch (error) {
    if (response.headersSent) return void response.destroy()
    const { status, message: words } = unreached(url, error)
    response.writeHead(status, words, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    })
    response.end(`${words}\n`)
  }
}

const NO_PROXY_REQUEST =
  'this is a proxy: ask it for CONNECT host:port, or for a whole http:// address'

/** `authority`: of a tunnel, which has no path. */
function destinationOf(url: string, authority: string | undefined): Destination {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.protocol !== 'http:' || parsed.hostname === '')
    throw new Unreached(400, url, NO_PROXY_REQUEST)
  const port = /:(\d+)$/.exec(authority ?? '')?.[1]
  if (authority !== undefined && (port === undefined || parsed.pathname !== '/'))
    throw new Unreached(400, authority, 'it needs a host and a port')
  return {
    hostname: hostOfUrl(parsed).replace(/\.$/, ''),
    port: Number(port ?? (parsed.port || 80)),
  }
}

/** Names and values in turn, as they came. The body of a request stays encoded as it is. */
function ownHeaders({ rawHeaders, headers }: IncomingMessage, kept?: string): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(/[,\s]+/)
  const dropped = new Set([...HOP_BY_HOP].filter((name) => name !== kept).concat(named))
  // Without it the next server would read a body as another request.
  dropped.delete('content-length')
  const own: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (!dropped.has(name.toLowerCase())) own.push(name, value)
  }
  return own
}
