// Shared by the servers of the bench: the parent gets the free port, and the server ends with its parent.
import type { Server } from 'node:http'

export function listenForParent(server: Server): void {
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
  })
  process.once('disconnect', () => process.exit(0))
}

/** The upstream's port, as the parent gave it. */
export const upstreamPort = (): number => Number(process.argv[2])
