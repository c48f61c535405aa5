// The ports of an instance. Default ports move as a block until a whole block is free. A port is checked long before
// a gateway listens on it, so the instances of this machine also claim ports, by the name of an abstract socket
// (unix(7)). The name ends with its process and belongs to the network namespace, as ports do.
import { createServer, type ListenOptions, type Server } from 'node:net'
import { fault } from '#contract/errors.ts'

const BLOCK_SIZE = 10
const BLOCKS_MAX = 50
const FIRST_PORT = 8080
const FIRST_PG_PORT = 5432
/** From the API's port to those of the portal, of functions and of the status page. */
export const PORTAL_PORT_OFFSET = 1
export const FUNCTIONS_PORT_OFFSET = 2
export const STATUS_PORT_OFFSET = 4
/** API, portal, functions, mesh, status page. */
const API_PORTS = [0, PORTAL_PORT_OFFSET, FUNCTIONS_PORT_OFFSET, 3, STATUS_PORT_OFFSET] as const
/** Those that something listens on today. */
const SERVED_PORTS = [0, PORTAL_PORT_OFFSET, FUNCTIONS_PORT_OFFSET, STATUS_PORT_OFFSET] as const

export type Ports = {
  /** API; portal, functions, mesh and the status page are the next four. */
  readonly port: number
  readonly pgPort: number
  release(): Promise<void>
}
/** Undefined ones are chosen. */
type WantedPorts = {
  readonly host: string
  readonly port: number | undefined
  readonly pgPort: number | undefined
}

/** Claims the ports that are wanted, and chooses those that are not. Throws `port_taken`. */
export async function claimPorts(wanted: WantedPorts): Promise<Ports> {
  demandApart(wanted)
  for (let block = 0; block < BLOCKS_MAX; block++) {
    const port = wanted.port ?? FIRST_PORT + block * BLOCK_SIZE
    const pgPort = wanted.pgPort ?? FIRST_PG_PORT + block * BLOCK_SIZE
    const claims: Server[] = []
    const release = async () => void (await Promise.all(claims.map(close)))
    const taken = await firstTaken(wanted, { port, pgPort }, claims)
    if (taken === undefined) return { port, pgPort, release }
    await release()
    const isPg = taken.port === pgPort
    if ((isPg ? wanted.pgPort : wanted.port) !== undefined)
      throw fault('port_taken', refusalText(taken, wanted.host, isPg ? '--pg-port' : '--port'))
  }
  throw fault('port_taken', 'Could not find free ports: give --port and --pg-port')
}

/** The database endpoint has none of the ports that follow the API's. */
function demandApart({ port, pgPort }: WantedPorts): void {
  if (port === undefined || pgPort === undefined) return
  if (API_PORTS.every((offset) => port + offset !== pgPort)) return
  const last = port + Math.max(...API_PORTS)
  throw fault(
    'port_taken',
    `Could not use port ${pgPort} for databases: ${port} to ${last} are those of the API; choose another: npm start -- --pg-port <port>`,
  )
}

/** A port that is not to be had: another Ergon claims it, or listen(2) failed with a code. */
type Taken = { readonly port: number; readonly why: string }
const CLAIMED = 'claimed'

function refusalText({ port, why }: Taken, host: string, flag: string): string {
  if (why !== CLAIMED && why !== 'EADDRINUSE')
    return `Could not listen on ${host}, port ${port}: ${why}`
  const who = why === CLAIMED ? 'another Ergon' : 'another program'
  return `Could not listen: port ${port} is taken by ${who}; choose another: npm start -- ${flag} <port>`
}

/** The first port that cannot be had. Ports claimed on the way are added to `claims`. */
async function firstTaken(
  wanted: WantedPorts,
  { port, pgPort }: { port: number; pgPort: number },
  claims: Server[],
): Promise<Taken | undefined> {
  const apiPorts = API_PORTS.map((offset) => port + offset)
  for (const one of new Set([...apiPorts, pgPort])) {
    const claim = await listen({ path: `\0ergon-port-${one}` })
    if (typeof claim === 'string') return { port: one, why: CLAIMED }
    claims.push(claim)
  }
  // Of wanted ports only what is listened on today must be free of others.
  const chosen = wanted.port === undefined ? apiPorts : SERVED_PORTS.map((offset) => port + offset)
  for (const one of [...chosen, pgPort]) {
    const server = await listen({ host: wanted.host, port: one, exclusive: true })
    if (typeof server === 'string') return { port: one, why: server }
    await close(server)
  }
  return undefined
}

/** A server that listens there, or the code of why it cannot. It does not keep the process alive. */
function listen(address: ListenOptions): Promise<Server | string> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(address, () => resolve(server.unref()))
  })
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve))
