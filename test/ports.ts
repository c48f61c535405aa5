// Ports for a test, so that test files and whole test runs go on side by side.
import { createServer } from 'node:net'

// Below the ephemeral range of Linux (32768), so that no outgoing connection takes a port first.
const PORTS = { first: 12_000, blocks: 2000, perBlock: 10 }
const ATTEMPTS = 50
/** The distance from the first port of a block to that of PostgreSQL. */
export const PG_PORT_OFFSET = 5

/** The first port of a block that nothing listens on. */
export async function freeBlock(): Promise<number> {
  for (let left = ATTEMPTS; left > 0; left--) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.blocks) * PORTS.perBlock
    const free = await Promise.all([0, 1, 2, 3, 4, PG_PORT_OFFSET].map((at) => isFree(port + at)))
    if (free.every(Boolean)) return port
  }
  throw new Error('no block of ports is free')
}

/** The flags of a start on a block of ports. */
export const portFlags = (port: number): string[] => [
  '--port',
  String(port),
  '--pg-port',
  String(port + PG_PORT_OFFSET),
]

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () =>
      server.close(() => resolve(true)),
    )
  })
}
