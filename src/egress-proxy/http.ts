// The proxy of HTTP: tunnels by CONNECT, and plain requests by their whole address (RFC 9110 §9.3.6, RFC 9112 §3.2.2).
import { createServer, request as httpRequest } from '#base/node-http.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { NotPermitted } from '#egress/checked-socket.ts'
import { failureWords } from '#egress/failure-words.ts'
import { join } from './join.ts'
import type { Destination } from './reach.ts'

const HEAD_MS = 10_000
/** Of one hop, not of the message (RFC 9110 §7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Opens a connection for the tenant whose socket it is. */
export type ReachFrom = (socket: Socket, to: Destination) => Promise<Socket>

/** Serves the sockets that are given to it as connections. */
export function createHttpProxy(reach: ReachFrom): Server {
  const proxy = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: 0 },
    (request, response) => void forward(reach, request, response),
  )
  proxy.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void tunnel(reach, { request, socket, head })
  })
  return proxy
}

async function tunnel(
  reach: ReachFrom,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): Promise<void> {
  socket.on('error', () => socket.destroy())
  const place = `http://${request.url ?? ''}`
  try {
    const there = await reach(socket, destinationOf(place, request.url))
    if (socket.destroyed) return void there.destroy()
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) there.write(head)
    await join(socket, there)
  } catch (error) {
    const { status, words } = refusalOf(error, request.url)
    socket.end(
      `HTTP/1.1 ${status} ${words}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(words) + 1}\r\n\r\n${words}\n`,
      'latin1',
    )
  }
}

async function forward(
  reach: ReachFrom,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '' } = request
  try {
    const socket = await reach(request.socket, destinationOf(url, undefined))
    const { pathname, search } = new URL(url)
    const onward = httpRequest({
      method,
      path: `${pathname}${search}`,
      headers: ownHeaders(request),
      setHost: false,
      createConnection: () => socket,
    })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      onward.once('response', resolve)
      onward.once('error', reject)
    })
    response.once('close', () => socket.destroy())
    pipeline(request, onward).catch(() => undefined)
    const answer = await answered
    const { statusCode = 502, statusMessage } = answer
    response.writeHead(statusCode, statusMessage, ownHeaders(answer))
    await pipeline(answer, response)
  } catch (error) {
    if (response.headersSent) return void response.destroy()
    const { status, words } = refusalOf(error, url)
    response.writeHead(status, words, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    })
    response.end(`${words}\n`)
  }
}

class NotAsked extends Error {}

/** `authority`: of a tunnel, which has no path. */
function destinationOf(url: string, authority: string | undefined): Destination {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.protocol !== 'http:' || parsed.hostname === '')
    throw new NotAsked(
      'this is a proxy: ask it for CONNECT host:port, or for a whole http:// address',
    )
  const port = /:(\d+)$/.exec(authority ?? '')?.[1]
  if (authority !== undefined && (port === undefined || parsed.pathname !== '/'))
    throw new NotAsked(`it needs a host and a port: ${authority}`)
  return {
    hostname: parsed.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''),
    port: Number(port ?? (parsed.port || 80)),
  }
}

/** Names and values in turn, as they came. */
function ownHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/[,\s]+/),
  )
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const isOfHop = HOP_BY_HOP.has(name.toLowerCase()) || named.has(name.toLowerCase())
    if (!isOfHop) kept.push(name, value)
  }
  return kept
}

/** Words that fit a line of status. */
function refusalOf(error: unknown, asked = ''): { status: number; words: string } {
  const status = error instanceof NotPermitted ? 403 : error instanceof NotAsked ? 400 : 502
  const words = `Could not connect to ${asked.slice(0, 200)}: ${failureWords(error)}`
  return { status, words: words.replaceAll(/[^\x20-\x7e]/g, '?') }
}
