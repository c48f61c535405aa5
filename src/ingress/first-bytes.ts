// HTTP/2 in the clear (RFC 9113, 3.3): such a client announces itself with the first bytes of the connection, which
// begin no method of HTTP/1.1.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { HEADERS_TIMEOUT_MS } from '#http/limits.ts'

/** The beginning of `PRI * HTTP/2.0`. The session checks the rest. */
const PREFACE = 'PRI'

/**
 * Gives connections that begin so to `takeHttp2`, and leaves the others to the server. Returns an end of those that have said
 * nothing.
 */
export function divertHttp2(server: Server, takeHttp2: (socket: Socket) => void): () => void {
  const takers = server.listeners('connection')
  const silent = new Set<Socket>()
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    readFirst(socket, (isHttp2) => {
      silent.delete(socket)
      if (isHttp2) takeHttp2(socket)
      else for (const take of takers) take.call(server, socket)
    })
  })
  return () => silent.forEach((socket) => socket.destroy())
}

/** Reads the first bytes of a connection and returns them to the stream before `done` is called. */
function readFirst(socket: Socket, done: (isHttp2: boolean) => void): void {
  let first: Buffer = Buffer.alloc(0)
  const destroy = () => socket.destroy()
  const timer = setTimeout(destroy, HEADERS_TIMEOUT_MS)
  const leave = () => {
    clearTimeout(timer)
    socket.off('readable', look)
    socket.off('end', destroy)
    socket.off('close', leave)
  }
  const look = () => {
    const more = socket.read() as Buffer | null
    if (more === null) return
    first = first.length === 0 ? more : Buffer.concat([first, more])
    const text = first.toString('latin1', 0, PREFACE.length)
    if (text.length < PREFACE.length && PREFACE.startsWith(text)) return
    leave()
    socket.unshift(first)
    done(text === PREFACE)
  }
  socket.on('error', destroy)
  socket.once('close', leave)
  socket.once('end', destroy)
  socket.on('readable', look)
}
