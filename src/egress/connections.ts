// Connections to addresses that tenants name. A name is resolved once, every address of it must be permitted, and the
// connection goes to one of those addresses, so no second answer of the DNS can change where it goes. The address of the
// connected socket is judged again before a byte leaves. Only these connections are kept and used again.
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { bareAddress } from '#base/subnets.ts'
import type * as http from 'node:http'
import { Agent } from '#base/node-http.ts'
import type { AddressRule } from './addresses.ts'
import type { Resolve } from './resolve.ts'

const CONNECT_MS = 5000
const IDLE_MS = 10_000
const FREE_MAX = 1024
/** Of a name; the owner of the name decides how many it has. */
const ADDRESSES_MAX = 4

export type ConnectionDeps = {
  readonly rule: AddressRule
  readonly resolve: Resolve
  /** PEM of further authorities. */
  readonly ca?: string
}

/** Of a request over such a connection: `ending` ends it while it opens, too. Node keeps its own `signal` from agents. */
export type CheckedRequest = http.RequestOptions & { readonly ending: AbortSignal }

/** The tenant reads its message. */
export class NotPermitted extends Error {}

export interface CheckedConnections {
  /** Over which requests to a target go. */
  agentFor(target: { readonly isSecure: boolean }): http.Agent
  close(): void
}

export function createCheckedConnections(deps: ConnectionDeps): CheckedConnections {
  const plain = new CheckedAgent(deps, false)
  const secure = new CheckedAgent(deps, true)
  return {
    agentFor: ({ isSecure }) => (isSecure ? secure : plain),
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

type Created = (error: Error | null, socket: Duplex) => void

class CheckedAgent extends Agent {
  readonly #deps: ConnectionDeps
  readonly #isSecure: boolean

  constructor(deps: ConnectionDeps, isSecure: boolean) {
    // The proxy of the environment is not used: it would choose the address.
    super({ keepAlive: true, maxFreeSockets: FREE_MAX, timeout: IDLE_MS, scheduling: 'lifo' })
    this.#deps = deps
    this.#isSecure = isSecure
  }

  override createConnection(options: CheckedRequest, created?: Created): undefined {
    const done = created ?? (() => undefined)
    open(this.#deps, this.#isSecure, options).then(
      (socket) => done(null, socket),
      (error: unknown) => done(error as Error, undefined as unknown as Duplex),
    )
  }
}

async function open(
  { rule, resolve, ca }: ConnectionDeps,
  isSecure: boolean,
  { host, port, ending }: CheckedRequest,
): Promise<Duplex> {
  const hostname = String(host)
  const addresses = await resolve(hostname)
  const refused = addresses.find((address) => !rule.permits(address))
  if (refused !== undefined) throw new NotPermitted(`the address is not public: ${refused}`)
  const tried = addresses.slice(0, ADDRESSES_MAX)
  let socket: Socket | undefined
  for (const [nth, address] of tried.entries())
    try {
      socket = await opened(connect({ host: address, port: Number(port) }), 'connect', ending)
      break
    } catch (error) {
      if (nth === tried.length - 1 || ending.aborted) throw error
    }
  if (socket === undefined) throw new NotPermitted(`the name has no address: ${hostname}`)
  const peer = bareAddress(socket.remoteAddress ?? '')
  if (!rule.permits(peer)) {
    socket.destroy()
    throw new NotPermitted(`the address is not public: ${peer}`)
  }
  socket.setNoDelay(true)
  if (!isSecure) return socket
  const name = isIP(hostname) === 0 ? { servername: hostname } : {}
  const secure = connectTls({
    socket,
    host: hostname,
    ALPNProtocols: ['http/1.1'],
    ...name,
    ...(ca && { ca }),
  })
  return await opened(secure, 'secureConnect', ending)
}

/** The socket once it is open; it is destroyed when that takes too long. */
function opened<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ending: AbortSignal,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const late = () =>
      socket.destroy(new NotPermitted(`no connection within ${CONNECT_MS / 1000} s`))
    const timer = setTimeout(late, CONNECT_MS)
    ending.addEventListener('abort', late)
    const settle = () => {
      clearTimeout(timer)
      ending.removeEventListener('abort', late)
      socket.off('error', failed)
    }
    const failed = (error: Error) => {
      settle()
      reject(error)
    }
    socket.once('error', failed)
    socket.once(event, () => {
      settle()
      resolve(socket)
    })
    if (ending.aborted) late()
  })
}
