// Requests to addresses that tenants name, over checked sockets. Only these connections are kept and used again.
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type * as http from 'node:http'
import { limitKeyUpdates } from '#base/limit-key-updates.ts'
import { Agent } from '#base/node-http.ts'
import type { AddressRule } from './addresses.ts'
import { connectChecked, opened } from './checked-socket.ts'
import type { Resolve } from './resolve.ts'

const IDLE_MS = 10_000
const FREE_MAX = 1024

export type ConnectionDeps = {
  readonly rule: AddressRule
  readonly resolve: Resolve
  /** PEM of further authorities. */
  readonly ca?: string
}

/** A request over such a connection: `ending` ends it while it opens, too. Node keeps its own `signal` from agents. */
export type CheckedRequest = http.RequestOptions & { readonly ending: AbortSignal }

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
  { ca, ...deps }: ConnectionDeps,
  isSecure: boolean,
  { host, port, ending }: CheckedRequest,
): Promise<Duplex> {
  const hostname = String(host)
  const socket = await connectChecked(deps, { hostname, port: Number(port), ending })
  if (!isSecure) return socket
  const name = isIP(hostname) === 0 ? { servername: hostname } : {}
  const secure = connectTls({
    socket,
    host: hostname,
    ALPNProtocols: ['http/1.1'],
    ...name,
    ...(ca && { ca }),
  })
  limitKeyUpdates(secure, 'server')
  return await opened(secure, 'secureConnect', ending)
}
