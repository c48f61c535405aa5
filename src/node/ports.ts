// The ports of an instance. Default ports move as a block until a whole block is free. A port is checked long before
// a gateway listens on it, so the instances of this machine also claim ports, by the name of an abstract socket
// (unix(7)). The name ends with its process and belongs to the network namespace, as ports do.
import { createServer, type ListenOptions, type Server } from 'node:net'
import { fault } from '#contract/errors.ts'

const BLOCK_SIZE = 10
const BLOCKS_MAX = 50
const FIRST_PORT = 8080
const LOOPBACK = '127.0.0.1'
const FIRST_PG_PORT = 5432
/** The distance from the API's port to the ports of the portal, of functions and of the status page. */
export const PORTAL_PORT_OFFSET = 1
export const FUNCTIONS_PORT_OFFSET = 2
export const STATUS_PORT_OFFSET = 4
/** API, portal, functions, mesh, status page. */
const API_PORTS = [0, PORTAL_PORT_OFFSET, FUNCTIONS_PORT_OFFSET, 3, STATUS_PORT_OFFSET] as const
/** The ports that something listens on today. */
const SERVED_PORTS = [0, PORTAL_PORT_OFFSET, FUNCTIONS_PORT_OFFSET, STATUS_PORT_OFFSET] as const

export type Ports = {
  /** API; portal, functions, mesh and the status page are the next four. */
  readonly port: number
  readonly pgPort: number
  release(): Promise<void>
}
/** A port that is never chosen, on loopback. */
type NamedPort = {
  readonly port: number
  readonly flag: string
  /** In words. */
  readonly use: string
}
/** Undefined ones are chosen. */
type WantedPorts = {
  readonly host: string
  readonly port: number | undefined
  readonly pgPort: number | undefined
  readonly named?: readonly NamedPort[]
}

/** Claims the ports that are wanted, and chooses those that are not. Throws `port_taken`. */
export async function claimPorts(wanted: WantedPorts): Promise<Ports> {
  demandApart(wanted)
  const named = await claimNamed(wanted.named ?? [])
  try {
    const block = await claimBlock(wanted)
    const release = async () => void (await Promise.all([block.release(), closeAll(named)]))
    return { ...block, release }
  } catch (error) {
    await closeAll(named)
    throw error
  }
}

/** Claims ports before a block is chosen, which then has none of them. */
async function claimNamed(named: readonly NamedPort[]): Promise<Server[]> {
  const claims: Server[] = []
  for (const { port, flag } of named) {
    const host = LOOPBACK
    const taken = await firstTaken({ host, claimed: [port], listened: [port] }, claims)
    if (taken === undefined) continue
    await closeAll(claims)
    throw fault('port_taken', refusalText(taken, host, flag))
  }
  return claims
}

async function claimBlock(wanted: WantedPorts): Promise<Ports> {
  const { host } = wanted
  for (let block = 0; block < BLOCKS_MAX; block++) {
    const port = wanted.port ?? FIRST_PORT + block * BLOCK_SIZE
    const pgPort = wanted.pgPort ?? FIRST_PG_PORT + block * BLOCK_SIZE
    const claims: Server[] = []
    const claimed = portsFrom(port, API_PORTS)
    // Only those wanted ports that are listened on today must be free of other programs.
    const listened = wanted.port === undefined ? claimed : portsFrom(port, SERVED_PORTS)
    const taken = await firstTaken(
      { host, claimed: [...claimed, pgPort], listened: [...listened, pgPort] },
      claims,
    )
    if (taken === undefined) return { port, pgPort, release: () => closeAll(claims) }
    await closeAll(claims)
    const isPg = taken.port === pgPort
    if ((isPg ? wanted.pgPort : wanted.port) !== undefined)
      throw fault('port_taken', refusalText(taken, host, isPg ? '--pg-port' : '--port'))
  }
  throw fault('port_taken', 'Could not find free ports: give --port and --pg-port')
}

/** Of the API at `port`, and of all that is kept beside it. */
export const apiPortsFrom = (port: number): readonly number[] => portsFrom(port, API_PORTS)

const portsFrom = (port: number, offsets: readonly number[]): number[] =>
  offsets.map((offset) => port + offset)

/** Each port has one use. */
function demandApart({ port, pgPort, named = [] }: WantedPorts): void {
  const apiPorts = port === undefined ? [] : portsFrom(port, API_PORTS)
  const databases = { flag: '--pg-port', use: 'databases' }
  const others = [...(pgPort === undefined ? [] : [{ port: pgPort, ...databases }]), ...named]
  for (const [index, one] of others.entries()) {
    const same = others.slice(0, index).find((before) => before.port === one.port)
    if (same === undefined && !apiPorts.includes(one.port)) continue
    const whose =
      same === undefined
        ? `${apiPorts[0]} to ${apiPorts.at(-1)} are those of the API`
        : `it is that of ${same.use}`
    throw fault(
      'port_taken',
      `Could not use port ${one.port} for ${one.use}: ${whose}; choose another: npm start -- ${one.flag} <port>`,
    )
  }
}

/** A port that another Ergon claims, or for which listen(2) failed with a code. */
type TakenPort = { readonly port: number; readonly why: string }
const CLAIMED = 'claimed'

function refusalText({ port, why }: TakenPort, host: string, flag: string): string {
  if (why !== CLAIMED && why !== 'EADDRINUSE')
    return `Could not listen on ${host}, port ${port}: ${why}`
  const who = why === CLAIMED ? 'another Ergon' : 'another program'
  return `Could not listen: port ${port} is taken by ${who}; choose another: npm start -- ${flag} <port>`
}

/** The first port that cannot be had. Ports claimed on the way are added to `claims`. */
async function firstTaken(
  ports: {
    readonly host: string
    readonly claimed: readonly number[]
    readonly listened: readonly number[]
  },
  claims: Server[],
): Promise<TakenPort | undefined> {
  for (const port of new Set(ports.claimed)) {
    const claim = await listen({ path: `\0ergon-port-${port}` })
    if (typeof claim === 'string') return { port, why: CLAIMED }
    claims.push(claim)
  }
  for (const port of ports.listened) {
    const server = await listen({ host: ports.host, port, exclusive: true })
    if (typeof server === 'string') return { port, why: server }
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
const closeAll = async (servers: readonly Server[]) => void (await Promise.all(servers.map(close)))
