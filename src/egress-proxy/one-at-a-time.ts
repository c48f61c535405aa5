// The connections that one connection of a tenant opens. A turn is of the tenant's connection, and Node serves pipelined
// requests at once: without this order one connection would open any number.
import type { Socket } from 'node:net'
import type { Destination } from './reach.ts'
import { Unreached } from './unreached.ts'

/** Requests that were sent before the answer of the last one (RFC 9112 §9.3.2). */
const WAITING_MAX = 16

type Connect = (to: Destination) => Promise<Socket>

/** Opens the next connection once the last has closed, in the order of the calls. Throws Unreached where too many wait. */
export function oneAtATime(open: Connect): Connect {
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  return async (to) => {
    if (waiting >= WAITING_MAX)
      throw new Unreached(429, to.hostname, `more than ${WAITING_MAX} requests wait for answers`)
    const before = last
    const closed = Promise.withResolvers<void>()
    last = closed.promise
    waiting++
    await before
    waiting--
    try {
      const socket = await open(to)
      socket.once('close', closed.resolve)
      if (socket.closed) closed.resolve()
      return socket
    } catch (error) {
      closed.resolve()
      throw error
    }
  }
}
