// Sockets to addresses that tenants name. A name is resolved once, every address of it must be permitted, and the
// connection goes to one of those addresses, so no second answer of the DNS can change where it goes. The address of the
// connected socket is judged again before a byte leaves.
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { bareAddress } from '#base/subnets.ts'
import type { AddressRule } from './addresses.ts'
import type { Resolve } from './resolve.ts'

/** For the name and all of its addresses together. */
const CONNECT_MS = 5000
/** Of a name; the owner of the name decides how many it has. */
const ADDRESSES_MAX = 4

/** The tenant reads its message. */
export class NotPermitted extends Error {}

/** A connection to a place that a tenant has named. Throws NotPermitted, and errors of sockets and of the DNS. */
export async function connectChecked(
  { rule, resolve }: { rule: AddressRule; resolve: Resolve },
  { hostname, port, ending }: { hostname: string; port: number; ending: AbortSignal },
): Promise<Socket> {
  const lastMs = performance.now() + CONNECT_MS
  const addresses = await within(resolve(hostname), CONNECT_MS)
  const refused = addresses.find((address) => !rule.permits(address, port))
  if (refused !== undefined) throw new NotPermitted(`the address is not public: ${refused}`)
  const tried = addresses.slice(0, ADDRESSES_MAX)
  let socket: Socket | undefined
  for (const [nth, address] of tried.entries())
    try {
      // A silent one leaves time for those behind it.
      const restMs = Math.max(0, lastMs - performance.now()) / (tried.length - nth)
      socket = await connectTo({ host: address, port }, ending, restMs)
      break
    } catch (error) {
      if (nth === tried.length - 1 || ending.aborted) throw error
    }
  if (socket === undefined) throw new NotPermitted(`the name has no address: ${hostname}`)
  const peer = bareAddress(socket.remoteAddress ?? '')
  if (!rule.permits(peer, port)) {
    socket.destroy()
    throw new NotPermitted(`the address is not public: ${peer}`)
  }
  return socket
}

/** A connection to an address that needs no check. */
export async function connectTo(
  where: TcpNetConnectOpts,
  ending: AbortSignal,
  limitMs = CONNECT_MS,
): Promise<Socket> {
  const socket = await opened(connect(where), 'connect', ending, limitMs)
  socket.setNoDelay(true)
  return socket
}

/** The socket once it is open; it is destroyed when that takes too long. */
export function opened<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ending: AbortSignal,
  limitMs = CONNECT_MS,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const late = () => socket.destroy(tooLate())
    const timer = setTimeout(late, limitMs)
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

const tooLate = () => new NotPermitted(`no connection within ${CONNECT_MS / 1000} s`)

async function within<T>(asked: Promise<T>, limitMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(tooLate()), limitMs)
  return await Promise.race([asked, late.promise]).finally(() => clearTimeout(timer))
}
