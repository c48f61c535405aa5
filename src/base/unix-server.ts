// The HTTP server of a unix socket: every socket of ours listens, reads bodies, answers in JSON and closes by it.
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { createServer } from './node-http.ts'

export type UnixServerOptions = {
  readonly socket: string
  /** The mode of the socket's file, which decides who may connect; the folder decides too. */
  readonly mode?: number
  readonly connectionsMax?: number
  /** The longest time for the head of a request. */
  readonly headersTimeoutMs?: number
  /** The longest time for a whole request to arrive. */
  readonly requestTimeoutMs?: number
}

export interface UnixServer {
  /** Takes no new connection and ends those that are open. */
  close(): Promise<void>
  readonly server: Server
}

/** Answers requests of HTTP on a socket. */
export async function serveUnix(
  options: UnixServerOptions,
  answer: RequestListener,
): Promise<UnixServer> {
  const { connectionsMax, headersTimeoutMs, requestTimeoutMs } = options
  const server = createServer(
    {
      ...(headersTimeoutMs !== undefined && { headersTimeout: headersTimeoutMs }),
      ...(requestTimeoutMs !== undefined && { requestTimeout: requestTimeoutMs }),
    },
    answer,
  )
  if (connectionsMax !== undefined) server.maxConnections = connectionsMax
  await listenUnix(server, options)
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Any server on a socket, in the place of one that a killed process has left. */
export async function listenUnix(
  server: NetServer,
  { socket, mode }: Pick<UnixServerOptions, 'socket' | 'mode'>,
): Promise<void> {
  rmSync(socket, { force: true })
  server.listen(socket)
  await once(server, 'listening')
  if (mode !== undefined) chmodSync(socket, mode)
}

/** The whole body. Throws what `tooLarge` makes when it has more bytes than `bytesMax`. */
export async function readWhole(
  request: IncomingMessage,
  bytesMax: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

/** A value as JSON text; integers beyond 2^53 as strings. */
export const jsonText = (value: unknown): string => JSON.stringify(value ?? null, printable)

/** Answers with a value as one line of JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(`${jsonText(value)}\n`)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
  })
  response.end(body)
}

const printable = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? value.toString() : value
