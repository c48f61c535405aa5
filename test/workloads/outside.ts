// The ways out of the network of a driver's instances, and a server of the machine that no instance may reach.
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { CellOutlet } from '#cells/cell.ts'
import { PROXY_PORT } from '#node/egress.ts'

export type Outside = {
  readonly outlet: CellOutlet
  /** Of a server of the machine that nothing may reach. */
  readonly canaryPort: number
  readonly canaryHits: number
  close(): void
}

export const addressesOfMachine = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap(
    (all) => all?.flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])) ?? [],
  )

export const TICKET = 'a-ticket'

/** The end of all ways out: it says the first line that it hears. */
export async function openOutside(socket: string): Promise<Outside> {
  const server = createServer((connection) => {
    connection.on('error', () => undefined)
    connection.once('data', (line: Buffer) => connection.end(line))
  }).listen(socket)
  let canaryHits = 0
  const canary = createServer((connection) => {
    canaryHits++
    connection.destroy()
  }).listen(0)
  await Promise.all([once(server, 'listening'), once(canary, 'listening')])
  chmodSync(socket, 0o777)
  return {
    outlet: {
      socket,
      ticket: TICKET,
      ports: [{ port: PROXY_PORT, refusal: '' }],
      hosts: ['db.example.com'],
    },
    canaryPort: (canary.address() as AddressInfo).port,
    get canaryHits() {
      return canaryHits
    },
    close() {
      server.close()
      canary.close()
    },
  }
}
