// The port of databases while no proxy listens there. The agent holds the port, so that no other program of the machine
// gets it: code that accounts run reaches this port as an address of the service.
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface HeldPort {
  /** Leaves the port to the proxies. May be called again. */
  release(): Promise<void>
}

/** Closes each connection at once. Throws EADDRINUSE where another program listens there. */
export async function holdPort(listen: {
  readonly host: string
  readonly port: number
}): Promise<HeldPort> {
  const server = createServer((socket) => socket.destroy())
  server.listen({ ...listen, exclusive: true })
  await once(server, 'listening')
  server.unref()
  return {
    async release() {
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}
