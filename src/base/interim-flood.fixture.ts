// A server that sends interim answers (1xx) without end.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const INTERIM = Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(50))

/** Listens at a socket's path, or at a free port of loopback. Returns the port; 0 at a path. */
export async function floodInterim(t: TestContext, path?: string): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    const send = () => {
      if (!socket.destroyed) socket.write(INTERIM, () => setTimeout(send, 5))
    }
    socket.once('data', send).resume()
  })
  await once(path === undefined ? server.listen(0, '127.0.0.1') : server.listen(path), 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return path === undefined ? (server.address() as AddressInfo).port : 0
}
